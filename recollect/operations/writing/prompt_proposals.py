"""List and decide the versions of the writer's role and notes that a model proposed (A22)."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.projections.memory import memory_queries as memory
from recollect.projections.memory.memory_queries import WriterProposal
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import DecideWriterPrompt
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    WriterPromptProposal,
    WriterProposalDecision,
    WriterProposalStatus,
)
from recollect.streams.deciding.dependencies import source_event_numbers
from recollect.streams.publishing.commands import random_id
from recollect.streams.writing.writer_prompt import text_in_force


def proposals(
    zone: OpenZone, status: WriterProposalStatus | None = None
) -> list[WriterPromptProposal]:
    """Return the proposed versions, the newest first; `status`: only those with it."""
    with zone.files() as files:
        texts = memory.writer_prompts(files.memory.connection)
        found = memory.writer_proposals(files.memory.connection)
    listed = [_listed(each, texts) for each in found]
    return [each for each in listed if status in (None, each.status)]


def find_proposal(zone: OpenZone, id_: str) -> WriterPromptProposal:
    """Return a proposed version.

    Raises:
        UnknownId: there is none with this id.
    """
    proposal = next((proposal for proposal in proposals(zone) if proposal.id == id_), None)
    if proposal is None:
        raise UnknownId(
            f"zone {zone.name} has no writer proposal {id_!r}; writer_proposals lists their ids"
        )
    return proposal


def decide_proposal(
    zone: OpenZone, id_: str, status: WriterProposalDecision, *, by_setting: bool = False
) -> WriterPromptProposal:
    """Accept or reject a pending proposal; return it with its new status.

    The command holds no text: the text in force comes from the model's recorded answer, and is gone
    once an event that the model was shown is forgotten. `by_setting`: no person decided.

    Raises:
        UnknownId: there is no proposal with this id.
        InvalidInput: it is not pending.
    """
    proposal = find_proposal(zone, id_)
    if proposal.status != "pending":
        raise InvalidInput(
            f"writer proposal {id_} is {proposal.status}; only a pending one can be {status}"
        )
    payload = DecideWriterPrompt(
        source_id=random_id(f"decide_writer_text:{id_}"),
        proposal_id=id_,
        approve=status == "accepted",
        sources=_sources(zone, proposal.number),
        by_setting=by_setting,
    )
    command(zone, payload)
    return find_proposal(zone, id_)


def accept_pending(zone: OpenZone) -> None:
    """Accept every pending proposal, on behalf of the setting `model.accept_proposals`."""
    for each in proposals(zone, "pending"):
        decide_proposal(zone, each.id, "accepted", by_setting=True)


def _sources(zone: OpenZone, number: int) -> tuple[int, ...]:
    """Return the numbers of all events whose words the model's answer `number` may repeat."""
    with zone.files() as files:
        numbers = source_event_numbers(
            zone.node.ledger,
            zone.name,
            zone.node.current(zone.name).chain,
            files.memory.connection,
            number,
        )
    return tuple(sorted(numbers - {number}))


def _listed(proposal: WriterProposal, texts: Mapping[str, tuple[int, str]]) -> WriterPromptProposal:
    row = proposal.row
    current = text_in_force(texts, row.name)
    return WriterPromptProposal(
        id=row.id,
        name=row.name,
        text=row.text,
        current=current,
        diff=list(
            unified_diff(
                current.splitlines(), row.text.splitlines(), "current", "proposed", lineterm=""
            )
        ),
        reason=row.reason,
        status=_status(proposal, is_same=row.text == current),
        model=row.model,
        role=row.role,
        number=row.number,
        at=format_time(row.created_at),
    )


def _status(found: WriterProposal, *, is_same: bool) -> WriterProposalStatus:
    if found.decision is not None:
        return "accepted" if found.decision == "accepted" else "rejected"
    return "pending" if found.newest and not is_same else "replaced"
