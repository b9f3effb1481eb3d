"""Readers of a zone's chains of events and changes; they skip void records."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeVar

from recollect.projections.embeddings import EmbeddingsModel, legacy_vectors
from recollect.schemas.changes import Section, decode_outbox, decode_sections
from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError, NewerFormat, RecollectError
from recollect.schemas.events import ActivateChain, Draft, Event
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import (
    FIRST_COMPACT_FORMAT,
    GENESIS,
    ChangeHeader,
    ChangeRecord,
    Envelope,
    EventRecord,
    Source,
    read_change,
    read_event,
    record_hash,
    unseal_event,
    unseal_part,
)
from recollect.streams.ledger import CHANGES, EVENTS, SEEK_WINDOW, KeyStore, Ledger, partition_of
from recollect.streams.records.erased_keys import (
    forget_targets,
    lost_key_error,
    unexplained_missing_keys,
)
from recollect.streams.records.skipped_records import SKIP_RECORD, is_skipped

_BATCH_SIZE = 2_000

#: Kinds that are never erased: they explain missing keys, name the chain in use, and name the
#: records to skip.
NEVER_ERASED = frozenset({"forget", "switch", SKIP_RECORD})

ErrorT = TypeVar("ErrorT", bound=RecollectError)


def with_location(error: ErrorT, topic: str, zone: str, offset: int) -> ErrorT:
    """Return the error with the topic, partition and offset of its record."""
    place = f"{topic}/{partition_of(zone)} offset {offset}"
    return type(error)(f"{place}: {error} (zone {zone})")


class UnsealedEvent(NamedTuple):
    """An accepted event. `event` is None if it was erased or cannot be decoded.

    `problem`: why it cannot be decoded; otherwise None.
    """

    offset: int
    hash: bytes
    source: Source
    kind: str
    occurred_at: int
    key: bytes | None
    event: Event | None
    problem: str | None


class SealedEvent(NamedTuple):
    """An accepted event, still sealed, with its offset."""

    offset: int
    hash: bytes
    envelope: Envelope
    record: EventRecord


class AcceptedChange(NamedTuple):
    """A change record that extends its chain; `offset` is the offset of its last fragment."""

    offset: int
    hash: bytes
    header: ChangeHeader
    record: ChangeRecord


class SealedReader:
    """Reads a zone's accepted events from a saved position, without unsealing them."""

    def __init__(
        self, ledger: Ledger, zone: str, number: int = 0, offset: int = 0, hash: bytes = GENESIS
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self.number = number
        self.offset = offset
        self.hash = hash
        #: The number of records that did not extend the chain.
        self.void = 0

    def read_sealed(self, limit: int) -> list[SealedEvent]:
        """Return the accepted events of the next `limit` records; [] at the end of the ledger.

        Raises:
            IntegrityError: a record is not an event, or is missing.
            NewerFormat: a record has a format that is newer than this program.
        """
        events: list[SealedEvent] = []
        while limit > 0 and not events:
            records = self._ledger.read(
                EVENTS, partition_of(self._zone), self.offset, limit, self._zone
            )
            if not records:
                return []
            for offset, _, value in records:
                try:
                    envelope, sealed = read_event(value)
                except (IntegrityError, NewerFormat) as error:
                    if is_skipped(self._ledger, self._zone, EVENTS, offset, value):
                        self.void += 1
                        self.offset = offset + 1
                        continue
                    raise with_location(error, EVENTS, self._zone, offset) from None
                expected = (self._zone, self.number + 1, self.hash)
                if (envelope.zone, envelope.number, envelope.previous) == expected:
                    self.number += 1
                    self.hash = record_hash(value)
                    events.append(SealedEvent(offset, self.hash, envelope, sealed))
                else:
                    self.void += 1
                self.offset = offset + 1
        return events


class EventReader(SealedReader):
    """Reads and unseals a zone's accepted events from a saved position."""

    def read(self, limit: int, excluded: Set[int] = frozenset()) -> list[UnsealedEvent]:
        """Return up to `limit` events, in order; [] at the end of the ledger.

        Events in `excluded` are returned as if they were erased.

        Raises:
            IntegrityError: a record is missing or was changed after it was written, or its key is
                missing although no erasure destroyed it.
            NewerFormat: a record has a format that is newer than this program.
        """
        accepted = self.read_sealed(limit)
        keys = self._ledger.keys.get([envelope.key_id for _, _, envelope, _ in accepted])
        self._check_missing([one for one in accepted if one.envelope.key_id not in keys], excluded)
        events: list[UnsealedEvent] = []
        for offset, hash_, envelope, sealed in accepted:
            key = keys.get(envelope.key_id)
            event = problem = None
            if key is not None and envelope.number not in excluded:
                try:
                    event = unseal_event(envelope, sealed, key)
                except KeyError:
                    problem = f"unknown kind {envelope.kind!r}; upgrade recollect"
                except NewerFormat as error:
                    problem = str(error)
                except IntegrityError as error:
                    raise with_location(error, EVENTS, self._zone, offset) from None
            events.append(
                UnsealedEvent(
                    offset,
                    hash_,
                    Source(envelope.number, envelope.key_id),
                    envelope.kind,
                    envelope.occurred_at,
                    key,
                    event,
                    problem,
                )
            )
        return events

    def _check_missing(self, missing: Sequence[SealedEvent], excluded: Set[int]) -> None:
        """Raise IntegrityError if an event without a key was not erased."""
        offsets = {
            one.envelope.number: one.offset
            for one in missing
            if one.envelope.number not in excluded
        }
        if offsets:
            for number in unexplained_missing_keys(self._ledger, self._zone, offsets):
                raise with_location(
                    lost_key_error(self._zone, number), EVENTS, self._zone, offsets[number]
                )


def sealed_events(ledger: Ledger, zone: str, numbers: Iterable[int]) -> Iterator[SealedEvent]:
    """Yield the accepted events with these numbers, in order; missing ones are skipped."""
    reader: SealedReader | None = None
    for number in sorted(set(numbers)):
        if number < 1:
            continue
        if reader is None or number - reader.number > SEEK_WINDOW:
            reader = SealedReader(ledger, zone, *ledger.seek(zone, number - 1))
        while reader.number < number and (page := reader.read_sealed(number - reader.number)):
            if page[-1].envelope.number == number:
                yield page[-1]


def event_at(
    ledger: Ledger, zone: str, number: int, excluded: Set[int] = frozenset()
) -> UnsealedEvent | None:
    """Return the event with this number, or None if there is none yet.

    An event in `excluded` is returned as if it were erased.
    """
    reader = EventReader(ledger, zone, *ledger.seek(zone, number - 1))
    while reader.number < number - 1 and reader.read_sealed(number - 1 - reader.number):
        pass
    events = reader.read(1, excluded) if reader.number == number - 1 else []
    return events[0] if events else None


def last_switch(ledger: Ledger, zone: str) -> ActivateChain | None:
    """Return a zone's last switch to another chain, or None without a switch."""
    switch: ActivateChain | None = None
    for event in events_of_kinds(ledger, zone, {"switch"}):
        switch = event.payload if isinstance(event.payload, ActivateChain) else switch
    return switch


def events_of_kinds(ledger: Ledger, zone: str, kinds: Set[str]) -> Iterator[Event]:
    """Yield a zone's accepted events of some kinds, in order, without those that were erased."""
    reader = SealedReader(ledger, zone)
    while page := reader.read_sealed(_BATCH_SIZE):
        for _, _, envelope, sealed in page:
            if envelope.kind in kinds:
                key = ledger.keys.get([envelope.key_id]).get(envelope.key_id)
                if key is not None:
                    yield unseal_event(envelope, sealed, key)


def erased_by(ledger: Ledger, zone: str, number: int, targets: Iterable[int]) -> tuple[Source, ...]:
    """Return the events that the erasure with this number erases.

    Targets that do not exist, come after the command or are of a kind that is never erased do not
    count.
    """
    below = (target for target in targets if 0 < target < number)
    return tuple(
        Source(envelope.number, envelope.key_id)
        for _, _, envelope, _ in sealed_events(ledger, zone, below)
        if envelope.kind not in NEVER_ERASED
    )


def void_reason(
    header: ChangeHeader,
    change: ChangeRecord,
    event: SealedEvent,
    erases: tuple[Source, ...],
    key_ids: Mapping[int, bytes],
) -> str | None:
    """Return why a change record is void although it extends its chain, or None if it is valid.

    `event`: the accepted event that has the record's number. `erases`: the events that it erases.
    `key_ids`: event number -> key id, for the events that the parts name. The check uses no key
    that an erasure can destroy, so every reader gets the same result at any time.
    """
    envelope = event.envelope
    if header.zone != envelope.zone:
        return f"change {header.number} belongs to zone {header.zone}"
    if (header.event_hash, header.event_offset) != (event.hash, event.offset):
        return f"change {header.number} does not name the hash and offset of event {header.number}"
    if header.erased_events != erases:
        return (
            f"change {header.number} erases {_numbers(header.erased_events)}, but its event "
            f"asks to erase {_numbers(erases)}"
        )
    for part in change.parts:
        if not part.sources:
            return f"a part of change {header.number} has no sources"
        for source in part.sources:
            known = source.number <= header.number and key_ids.get(source.number)
            if known != source.key_id:
                return (
                    f"change {header.number} names a key that is not that of event {source.number}"
                )
    return None


def _numbers(sources: Sequence[Source]) -> str:
    return ", ".join(str(source.number) for source in sources) or "nothing"


class ChangeReader:
    """Reads the accepted change records of a zone's chain from a saved position."""

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        chain: str,
        number: int = 0,
        offset: int = 0,
        hash: bytes = GENESIS,
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self._chain = chain
        self.number = number
        self.offset = offset
        self.hash = hash
        self._assembler = Assembler()
        self._events: SealedReader | None = None
        self._unmatched: deque[SealedEvent] = deque()
        #: The number of void records: they did not extend this chain, or do not match their event.
        self.void = 0
        # The offset and the void count after the last accepted record.
        self._after_last_accepted = offset, 0

    def read(self, limit: int) -> list[AcceptedChange]:
        """Return up to `limit` accepted records, in order; [] at the end of the topic.

        A record whose event has not arrived yet counts as the end, since it cannot be checked
        without its event.

        Raises:
            IntegrityError: a record was changed after it was written, or is missing.
            NewerFormat: a record has a format that is newer than this program.
        """
        changes: list[AcceptedChange] = []
        key_ids: dict[int, bytes] = {}
        while not changes:
            records = self._ledger.read(
                CHANGES, partition_of(self._zone), self.offset, limit, self._zone
            )
            if not records:
                return []
            for remaining, (offset, _, value) in zip(
                range(len(records), 0, -1), records, strict=True
            ):
                self.offset = offset + 1
                try:
                    complete = self._assembler.add(value)
                    if complete is None:
                        continue
                    header, change = read_change(complete)
                except (IntegrityError, NewerFormat) as error:
                    if is_skipped(self._ledger, self._zone, CHANGES, offset, value):
                        self.void += 1
                        continue
                    raise with_location(error, CHANGES, self._zone, offset) from None
                if header.chain != self._chain:
                    continue
                if header.number != self.number + 1 or header.previous != self.hash:
                    self.void += 1
                    continue
                event = self._next_event(remaining)
                if event is None:
                    self.offset, self.void = self._after_last_accepted
                    self._assembler.reset()
                    return changes
                if self._is_valid(header, change, event, key_ids):
                    self._unmatched.popleft()
                    self.number += 1
                    self.hash = record_hash(complete)
                    # A reader that starts here, from a watermark, must accept the same records.
                    self._assembler.reset()
                    changes.append(AcceptedChange(offset, self.hash, header, change))
                    self._after_last_accepted = self.offset, self.void
                else:
                    self.void += 1
        return changes

    def _next_event(self, limit: int) -> SealedEvent | None:
        """Return the event of the next change record, or None if it has not arrived yet.

        Up to `limit` events are read ahead.
        """
        if self._events is None:
            self._events = SealedReader(
                self._ledger, self._zone, *self._ledger.seek(self._zone, self.number)
            )
        while not self._unmatched:
            missing = max(self.number - self._events.number, 0)
            page = self._events.read_sealed(missing + limit)
            if not page:
                return None
            self._unmatched.extend(one for one in page if one.envelope.number > self.number)
        return self._unmatched[0]

    def _is_valid(
        self,
        header: ChangeHeader,
        change: ChangeRecord,
        event: SealedEvent,
        key_ids: dict[int, bytes],
    ) -> bool:
        """Return whether a record that extends the chain is valid; `key_ids` is a cache."""
        number = event.envelope.number
        key_ids[number] = event.envelope.key_id
        unknown = {
            source.number
            for part in change.parts
            for source in part.sources
            if source.number < number and source.number not in key_ids
        }
        key_ids.update(
            (envelope.number, envelope.key_id)
            for _, _, envelope, _ in sealed_events(self._ledger, self._zone, unknown)
        )
        erases: tuple[Source, ...] = ()
        if event.envelope.kind == "forget":
            targets = forget_targets(self._ledger.keys, event.envelope, event.record)
            erases = erased_by(self._ledger, self._zone, number, targets)
        return void_reason(header, change, event, erases, key_ids) is None


def record_ending_at(ledger: Ledger, zone: str, begin: int, end: int) -> bytes:
    """Return the change record whose last fragment is at offset `end`.

    Its first fragment must be at offset `begin` or later.

    Raises:
        IntegrityError: no record ends there.
    """
    assembler = Assembler()
    for offset, _, value in ledger.read(CHANGES, partition_of(zone), begin, end - begin + 1, zone):
        complete = assembler.add(value)
        if offset == end and complete is not None:
            return complete
    error = IntegrityError(f"a change record should end here, but none does; {RESTORE_LEDGER}")
    raise with_location(error, CHANGES, zone, end)


def open_sections(
    keys: KeyStore,
    changes: Sequence[AcceptedChange],
    models: tuple[str, ...],
    excluded: Set[int] = frozenset(),
) -> dict[str, list[Section]]:
    """Return the sections of change records, in order, for each read model.

    Parts with a source that was erased, or is in `excluded`, are left out.
    """
    key_ids = {
        source.key_id
        for change in changes
        for part in change.record.parts
        for source in part.sources
    }
    present = keys.get(list(key_ids))
    sections: dict[str, list[Section]] = {model: [] for model in models}
    for change in changes:
        try:
            for part in change.record.parts:
                if excluded and any(source.number in excluded for source in part.sources):
                    continue
                text = unseal_part(change.record, part, present)
                if text is not None:
                    current = current_sections(text, models, change.header.format)
                    for model, section in current.items():
                        sections[model].append(section)
        except (IntegrityError, NewerFormat) as error:
            raise with_location(error, CHANGES, change.header.zone, change.offset) from None
    return sections


def current_sections(text: bytes, models: tuple[str, ...], format_: int) -> dict[str, Section]:
    """Return a part's section for each read model, upgraded to the current format.

    Raises:
        NewerFormat: a newer program wrote it.
    """
    sections = decode_sections(text, models, format_)
    if format_ < FIRST_COMPACT_FORMAT and EmbeddingsModel.name in sections:
        sections[EmbeddingsModel.name] = legacy_vectors.to_current_format(
            sections[EmbeddingsModel.name]
        )
    return sections


def open_outbox(keys: KeyStore, change: AcceptedChange) -> list[Draft]:
    """Return the commands that an accepted change record asks for."""
    commands: list[Draft] = []
    for part in change.record.parts:
        text = unseal_part(
            change.record, part, keys.get([source.key_id for source in part.sources])
        )
        if text is not None:
            commands.extend(decode_outbox(text, change.header.format))
    return commands
