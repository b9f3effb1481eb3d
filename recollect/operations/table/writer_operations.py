"""Operations on the writer's texts: the role and notes of the model that writes facts."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import described
from recollect.schemas.wire import Receipt, WriterPromptVersion

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
        {"name": "names", "text": "Mel is Melanie."},
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

    >>> zone.set_writer_text("names", "Mel is Melanie.").status
    'new'
    """
    from recollect.operations.writing import writing

    return writing.set_prompt_text(zone, name, text)


class WriterOperations:
    """The writer's texts of a zone."""

    writer_texts = writer_texts
    set_writer_text = set_writer_text
