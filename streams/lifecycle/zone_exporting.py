"""Export a zone's ledger as lines of JSON, from which another home can be made."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.schemas.errors import NewerFormat
from recollect.schemas.exported_events import exported_line, gap_line, is_exported
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import EventReader

#: The kind under which an erased record is counted.
ERASED = "erased"

_BATCH_SIZE = 500


def exported_lines(
    ledger: Ledger, zone: str, last: int, writer_role: int
) -> Iterator[tuple[str | None, bytes]]:
    """Yield (kind, line) of each record of a zone up to the number `last`, in order.

    `writer_role`: the role of the generation in use. Roles that were set for others are left out.
    `kind` is None, except for a record that is left out of the export: its line has no content.

    Raises:
        NewerFormat: a newer program wrote a record.
    """
    reader = EventReader(ledger, zone)
    at = 0
    while reader.number < last and (page := reader.read(min(_BATCH_SIZE, last - reader.number))):
        for one in page:
            event = one.event
            if one.problem is not None:
                raise NewerFormat(f"record {one.source.number} of zone {zone}: {one.problem}")
            if event is not None and is_exported(event, writer_role):
                at = event.ingested_at
                yield None, exported_line(event)
            else:
                kind = ERASED if event is None else one.kind
                yield kind, gap_line(zone, one.source.number, at, kind)
