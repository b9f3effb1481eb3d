"""Operations on the writer's texts: the role and notes of the model that writes facts."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import described
from recollect.schemas.wire import (
    Receipt,
    WriterPromptProposal,
    WriterPromptVersion,
    WriterProposalDecision,
    WriterProposalStatus,
)

_PROPOSAL = {
    "id": "01KR3XZBC0Q5Z0S2M3Y8C1K7AB",
    "name": "names",
    "text": "Jo is Josefina.",
    "current": "",
    "diff": ["--- current", "+++ proposed", "@@ -0,0 +1 @@", "+Jo is Josefina."],
    "reason": "Mel was taken for two people",
    "status": "pending",
    "model": "small-model",
    "role": "own-2",
    "number": 7,
    "at": "2026-05-08T13:56:00.000Z",
}
_ROLE = {"name": "role", "text": "You keep a memory …", "number": 0, "at": None}


@operation(
    "GET /writer/texts",
    right="read",
    title="List writer texts",
    tag="writer",
    response_field="texts",
    example=(None, {"texts": [_ROLE]}),
)
def writer_texts(zone: OpenZone) -> list[WriterPromptVersion]:
    """Return the current role and notes of the language model that writes the zone's facts.

    >>> [text.name for text in zone.writer_texts()]
    ['role']
    """
    from recollect.operations.writing import writing

    return writing.prompt_texts(zone)


@operation(
    "POST /writer/texts",
    right="admin",
    status=201,
    creates_zone=True,
    title="Set a writer text",
    tag="writer",
    example=(
        {"name": "names", "text": "Jo is Josefina."},
        {"status": "new", "number": 2, "event_id": "01KR3XZBC0BAQNHSCT9EJ4NDPT", "clamped": False},
    ),
)
def set_writer_text(
    zone: OpenZone,
    name: Annotated[str, described(description="role, or the name of a note.")],
    text: Annotated[
        str,
        described(description="The text; empty to restore the default role, or remove the note."),
    ],
) -> Receipt:
    """Set the role (`role`) or a note of the language model that writes the zone's facts.

    Each version is an event of the ledger. An empty text restores the default role, or removes the
    note.

    Raises:
        InvalidInput: the name or the text is too long, or the name is empty.

    >>> zone.set_writer_text("names", "Jo is Josefina.").status
    'new'
    """
    from recollect.operations.writing import writing

    return writing.set_prompt_text(zone, name, text)


@operation(
    "GET /writer/proposals",
    right="read",
    title="List writer proposals",
    tag="writer",
    response_field="proposals",
    example=(None, {"proposals": [_PROPOSAL]}),
)
def writer_proposals(
    zone: OpenZone,
    *,
    status: Annotated[
        WriterProposalStatus | None, described(description="Only proposals with this status.")
    ] = None,
) -> list[WriterPromptProposal]:
    """Return the new versions of its role and notes that the model proposed, newest first.

    A proposal has no effect until it is accepted. `diff` compares it with the text in force.

    >>> zone.writer_proposals()
    []
    """
    from recollect.operations.writing import prompt_proposals

    return prompt_proposals.proposals(zone, status)


@operation(
    "PATCH /writer/proposals/{id}",
    right="admin",
    title="Decide a writer proposal",
    tag="writer",
    example=({"status": "accepted"}, {**_PROPOSAL, "status": "accepted"}),
)
def decide_proposal(
    zone: OpenZone,
    id: Annotated[str, described(description="Id of a proposal.")],
    status: Annotated[WriterProposalDecision, described(description="accepted or rejected.")],
) -> WriterPromptProposal:
    """Accept or reject a proposed version of the model's role or of a note; return the proposal.

    An accepted version is in force from the next `write` on. The decision is an event of the
    ledger.

    Raises:
        UnknownId: there is no proposal with this id.
        InvalidInput: it is not pending.

    >>> zone.decide_proposal("nobody", "accepted")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    recollect.schemas.errors.UnknownId: zone ada has no writer proposal 'nobody'; ...
    """
    from recollect.operations.writing import prompt_proposals

    return prompt_proposals.decide_proposal(zone, id, status)


class WriterOperations:
    """The writer's texts of a zone."""

    writer_texts = writer_texts
    set_writer_text = set_writer_text
    writer_proposals = writer_proposals
    decide_proposal = decide_proposal
