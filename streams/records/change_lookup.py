"""Find the change record of an event, by bisection of the zone's `changes`."""

from __future__ import annotations

from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import chain_of, read_change, record_hash
from recollect.streams.ledger import CHANGES, Ledger, partition_of
from recollect.streams.records.chain_readers import AcceptedChange, SealedEvent

_BATCH_SIZE = 64
# Below this many offsets, reading on is cheaper than another probe.
_NEAR = 512


def change_of(ledger: Ledger, zone: str, chain: str, event: SealedEvent) -> AcceptedChange | None:
    """Return the change record of a chain that decides an event, or None if there is none.

    The numbers of a chain grow with the offsets, so the search takes a number of reads in
    proportion to the logarithm of the topic's length.
    """
    number = event.envelope.number
    low, high = 0, ledger.end(CHANGES, partition_of(zone))
    while high - low > _NEAR:
        middle = (low + high) // 2
        probe = _first_from(ledger, zone, chain, middle, 0)
        if probe is None or probe.offset >= high or probe.header.number >= number:
            high = middle
        else:
            low = middle
    probe = _first_from(ledger, zone, chain, low, number)
    if probe is None or (probe.header.event_hash, probe.header.event_offset) != (
        event.hash,
        event.offset,
    ):
        return None
    return probe


def _first_from(
    ledger: Ledger, zone: str, chain: str, offset: int, number: int
) -> AcceptedChange | None:
    """Return the chain's first complete record from `offset` on, of event `number` or later."""
    assembler = Assembler()
    while records := ledger.read(CHANGES, partition_of(zone), offset, _BATCH_SIZE, zone):
        for at, _, value in records:
            try:
                complete = assembler.add(value)
                if complete is None or chain_of(complete) != chain:
                    continue
                header, record = read_change(complete)
            except (IntegrityError, NewerFormat):
                # No record of this chain; `verify` reports it.
                continue
            if header.number >= number:
                return AcceptedChange(at, record_hash(complete), header, record)
        offset = records[-1].offset + 1
    return None
