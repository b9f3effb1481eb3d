"""The ledger of a branch: a copy of a zone's records up to one of them, which then grows alone.

A branch's ledger is embedded, wherever the zone's is. It has the same secret, so that ids, keys and
duplicates are what they would be in the zone. What the zone forgets after the copy was made is
forgotten in the branch by a command of its own, whose targets are among the copied records.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.schemas.events import (
    ArchiveMemories,
    Content,
    CreateMentalModel,
    DecideMerge,
    Draft,
    Event,
    Forget,
    ProposeMerge,
    Retract,
    SetMemoryState,
    UndoMerge,
    UpdateMentalModel,
    kind_of,
)
from recollect.schemas.ledger.records import read_event
from recollect.streams.ledger import CHANGES, EVENTS, RECORDINGS, Ledger, Record, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.records.chain_readers import ChangeReader, EventReader, sealed_events
from recollect.streams.records.erased_keys import FORGET, erased_numbers

_BATCH_SIZE = 1_000

#: What a promotion publishes: what was said, and commands that name memories by ids, which are the
#: same in the zone. Commands that name records by their numbers stay in the branch.
PROMOTED = (
    ArchiveMemories,
    Content,
    CreateMentalModel,
    DecideMerge,
    ProposeMerge,
    Retract,
    SetMemoryState,
    UndoMerge,
    UpdateMentalModel,
)


def copy_records(ledger: Ledger, zone: str, chain: str, number: int, to: EmbeddedLedger) -> None:
    """Copy a zone's records up to event `number`, their keys, and a chain of decisions on them."""
    (fork,) = sealed_events(ledger, zone, [number])
    for page in _pages(ledger, EVENTS, zone, fork.offset + 1):
        key_ids = [read_event(record.value)[0].key_id for record in page]
        to.keys.add(ledger.keys.get(key_ids))
        to.append(EVENTS, zone, [record.value for record in page])
    for page in _pages(ledger, CHANGES, zone, _end_of_decisions(ledger, zone, chain, number)):
        to.append(CHANGES, zone, [record.value for record in page])
    for page in _pages(ledger, RECORDINGS, zone, ledger.end(RECORDINGS, partition_of(zone))):
        to.append(RECORDINGS, zone, [record.value for record in page])


def _pages(ledger: Ledger, topic: str, zone: str, end: int) -> Iterator[list[Record]]:
    """Yield a zone's records before an offset, in order."""
    offset = 0
    while offset < end:
        page = ledger.read(topic, partition_of(zone), offset, _BATCH_SIZE, zone)
        if not page:
            return
        offset = page[-1].offset + 1
        if found := [record for record in page if record.offset < end]:
            yield found


def _end_of_decisions(ledger: Ledger, zone: str, chain: str, number: int) -> int:
    """Return the offset after the decisions on a zone's records up to `number`."""
    reader = ChangeReader(ledger, zone, chain)
    end = 0
    while page := reader.read(_BATCH_SIZE):
        for change in page:
            if change.header.number > number:
                return end
            end = change.offset + 1
    return end


def forget_again(ledger: Ledger, zone: str, branch: Ledger, number: int) -> int:
    """Erase in a branch what was forgotten in its zone since; return the number of events.

    `number`: the last copied event.
    """
    targets = sorted(
        target
        for target in erased_numbers(ledger, zone) - erased_numbers(branch, zone)
        if target <= number
    )
    if targets:
        forget = Forget(source_id=random_id(FORGET), targets=tuple(targets))
        publish_commands(branch, zone, [command(forget, time.time_ns() // 1_000_000)])
    return len(targets)


def own_events(branch: Ledger, zone: str, number: int) -> Iterator[Event]:
    """Yield the readable events of a branch after the copied ones."""
    reader = EventReader(branch, zone, *branch.seek(zone, number))
    while page := reader.read(_BATCH_SIZE):
        yield from (
            each.event for each in page if each.event is not None and each.source.number > number
        )


def drafts_to_promote(events: Sequence[Event]) -> tuple[list[Draft], Counter[str]]:
    """Return events as drafts for the zone, and how many of each other kind stay behind."""
    drafts: list[Draft] = []
    left: Counter[str] = Counter()
    for event in events:
        if isinstance(event.payload, PROMOTED):
            drafts.append(
                Draft(
                    platform=event.platform,
                    occurred_at=event.occurred_at,
                    ingested_at=event.ingested_at,
                    payload=event.payload,
                )
            )
        else:
            left[kind_of(event.payload)] += 1
    return drafts, left
