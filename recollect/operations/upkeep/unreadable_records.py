"""Foreign records, which recollect did not write and which block a zone; skipping them."""

from __future__ import annotations

from typing import NamedTuple

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.schemas.errors import IntegrityError, InvalidInput, NewerFormat
from recollect.schemas.events import SkipRecord
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import read_change, read_event, record_hash
from recollect.schemas.wire import Receipt
from recollect.streams.ledger import CHANGES, EVENTS, Ledger, partition_of
from recollect.streams.publishing.commands import random_id
from recollect.streams.records.skipped_records import is_skipped

TOPICS = (EVENTS, CHANGES)
_BATCH_SIZE = 2_000


class UnreadableRecord(NamedTuple):
    """A record that blocks the readers of a zone, and the reason."""

    zone: str
    topic: str
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason} (zone {self.zone})"

    @property
    def place(self) -> str:
        """The topic, partition and offset of the record."""
        return f"{self.topic}/{partition_of(self.zone)} offset {self.offset}"

    @property
    def fix(self) -> str:
        """The command that skips the record."""
        return f"recollect --zone {self.zone} skip {self.topic} {self.offset}"


def unreadable_records(
    ledger: Ledger, zone: str, begin: dict[tuple[str, str], int] | None = None
) -> list[UnreadableRecord]:
    """Return the foreign records of a zone that are not skipped yet.

    Records of a newer recollect do not count. `begin` maps (zone, topic) to the first offset to
    read; it is advanced to the first foreign record, or to the end.
    """
    foreign: list[UnreadableRecord] = []
    begin = {} if begin is None else begin
    for topic in TOPICS:
        assembler = Assembler()
        offset, first = begin.get((zone, topic), 0), None
        while records := ledger.read(topic, partition_of(zone), offset, _BATCH_SIZE, zone):
            for place, _, value in records:
                offset = place + 1
                reason = _fault(topic, value, assembler)
                if reason and not is_skipped(ledger, zone, topic, place, value):
                    foreign.append(UnreadableRecord(zone, topic, place, reason))
                    first = place if first is None else first
        begin[zone, topic] = offset if first is None else first
    return foreign


def _fault(topic: str, value: bytes, assembler: Assembler) -> str | None:
    try:
        if topic == EVENTS:
            read_event(value)
        elif (complete := assembler.add(value)) is not None:
            read_change(complete)
    except NewerFormat:
        return None
    except IntegrityError as error:
        return str(error)
    return None


def skip_record(zone: OpenZone, topic: str, offset: int) -> Receipt:
    """Publish a command that makes every reader of the zone skip a record.

    Raises:
        InvalidInput: the zone has no such record, or the record is readable.
    """
    zone.must_exist()
    ledger = zone.node.ledger
    unreadable = {(record.topic, record.offset) for record in unreadable_records(ledger, zone.name)}
    if (topic, offset) not in unreadable:
        known = ", ".join(f"{name} {place}" for name, place in sorted(unreadable)) or "none"
        raise InvalidInput(
            f"{topic} offset {offset} is not a record that blocks zone {zone.name}; the blocking "
            f"records are: {known}"
        )
    (record,) = ledger.read(topic, zone.partition, offset, 1, zone.name)
    return command(
        zone,
        SkipRecord(
            source_id=random_id("skip_record"),
            topic=topic,
            offset=offset,
            hash=record_hash(record.value),
        ),
    )
