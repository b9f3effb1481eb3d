"""The ledger of a branch: a copy of a zone's records up to one of them, which then grows alone.

A branch's ledger is embedded, wherever the zone's is. It has the same secret, so that ids, keys and
duplicates are what they would be in the zone. What the zone forgets after the copy was made is
forgotten in the branch by a command of its own, whose targets are among the copied records.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recollect.schemas.events import (
    AnyPayload,
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
    SetWriterPrompt,
    UndoMerge,
    UpdateMentalModel,
    kind_of,
)
from recollect.schemas.ledger.recordings import read_recording
from recollect.schemas.ledger.records import read_event
from recollect.streams.ledger import CHANGES, EVENTS, RECORDINGS, Ledger, Record, partition_of
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.records.chain_readers import ChangeReader, EventReader, sealed_events
from recollect.streams.records.erased_keys import FORGET, erased_numbers

_BATCH_SIZE = 1_000

#: What a promotion publishes: what was said, texts of the writer's prompt, and commands that name
#: memories by ids, which are the same in the zone. Commands that name records by their numbers stay
#: in the branch.
PROMOTED = (
    ArchiveMemories,
    Content,
    CreateMentalModel,
    DecideMerge,
    ProposeMerge,
    Retract,
    SetMemoryState,
    SetWriterPrompt,
    UndoMerge,
    UpdateMentalModel,
)


def is_promoted(payload: AnyPayload) -> bool:
    """Return whether a promotion publishes a record of a branch."""
    # A role that a rebuild set holds only in a generation of the branch.
    return isinstance(payload, PROMOTED) and not (
        isinstance(payload, SetWriterPrompt) and payload.beside
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


class Promotion(NamedTuple):
    """What a promotion publishes, and what stays in the branch.

    `outdated`: the names of writer prompts that the zone has set later than the branch; `left`: the
    number of records of each other kind.
    """

    drafts: list[Draft]
    outdated: list[str]
    left: Counter[str]


def promotion_of(events: Sequence[Event], prompts_set_at: Mapping[str, int]) -> Promotion:
    """Return what to promote of a branch's own events.

    `prompts_set_at`: when the zone last set each writer prompt (unix ms), by name.
    """
    drafts: list[Draft] = []
    outdated: set[str] = set()
    left: Counter[str] = Counter()
    for event in events:
        payload = event.payload
        if not is_promoted(payload):
            left[kind_of(payload)] += 1
        elif (
            isinstance(payload, SetWriterPrompt)
            and prompts_set_at.get(payload.name, 0) > event.occurred_at
        ):
            outdated.add(payload.name)
        else:
            drafts.append(
                Draft(
                    platform=event.platform,
                    occurred_at=event.occurred_at,
                    ingested_at=event.ingested_at,
                    payload=payload,
                )
            )
    return Promotion(drafts, sorted(outdated), left)


def copy_answers(branch: Ledger, zone: str, number: int, to: Ledger) -> int:
    """Copy a language model's answers from a branch to its zone; return how many are new there.

    Only answers whose prompts quoted events of the zone, up to event `number`, are copied. What the
    branch has asked then costs the zone nothing.
    """
    known = {
        read_recording(record.value).header.request
        for page in _pages(to, RECORDINGS, zone, to.end(RECORDINGS, partition_of(zone)))
        for record in page
    }
    copied = 0
    for page in _pages(branch, RECORDINGS, zone, branch.end(RECORDINGS, partition_of(zone))):
        new = []
        for record in page:
            header = read_recording(record.value).header
            keys = {source.key_id: source.number for source in header.sources}
            is_shared = max(keys.values(), default=0) <= number
            if header.request not in known and is_shared and len(to.keys.get([*keys])) == len(keys):
                known.add(header.request)
                new.append(record.value)
        if new:
            to.append(RECORDINGS, zone, new)
            copied += len(new)
    return copied
