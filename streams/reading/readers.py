"""Readers of a zone's records. Only records that extend its chain count; others are skipped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, TypeVar

from recollect.projections.embeddings import EmbeddingsModel, older_forms
from recollect.schemas.changes import Section, decode_outbox, decode_sections
from recollect.schemas.errors import IntegrityError, NewerFormat, RecollectError
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
from recollect.streams.reading.erased_keys import forget_targets, lost, unexplained

_BATCH = 2_000

#: Kinds that are never erased: they explain missing keys and name the chain in use.
NEVER_ERASED = frozenset({"forget", "switch"})

Unreadable = TypeVar("Unreadable", bound=RecollectError)


def located(error: Unreadable, topic: str, zone: str, offset: int) -> Unreadable:
    """Return the error with the place of its record."""
    place = f"{topic}/{partition_of(zone)} offset {offset}"
    return type(error)(f"{place}: {error} (zone {zone})")


class UnsealedEvent(NamedTuple):
    """An accepted event. `event` is None where it was erased or cannot be understood.

    `problem` says why it cannot be understood; None where it can, or was erased.
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
    """An accepted event as it stands in the ledger, and where."""

    offset: int
    hash: bytes
    envelope: Envelope
    record: EventRecord


class AcceptedChange(NamedTuple):
    """A change record that extends its chain; `offset` is that of its last fragment."""

    offset: int
    hash: bytes
    header: ChangeHeader
    record: ChangeRecord


class Envelopes:
    """Walks along a zone's accepted events from a saved place; unseals none."""

    def __init__(
        self, ledger: Ledger, zone: str, number: int = 0, offset: int = 0, hash: bytes = GENESIS
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self.number = number
        self.offset = offset
        self.hash = hash
        #: How many records did not extend the chain.
        self.void = 0

    def walk(self, limit: int) -> list[SealedEvent]:
        """Return the accepted of the next `limit` records; none at the end of the ledger.

        Raises:
            IntegrityError: a record is no event, or is missing.
            NewerFormat: a record is of a form that only a newer program reads.
        """
        found: list[SealedEvent] = []
        while limit > 0 and not found:
            records = self._ledger.read(
                EVENTS, partition_of(self._zone), self.offset, limit, self._zone
            )
            if not records:
                return []
            for offset, _, value in records:
                try:
                    envelope, sealed = read_event(value)
                except (IntegrityError, NewerFormat) as error:
                    raise located(error, EVENTS, self._zone, offset) from None
                after = (self._zone, self.number + 1, self.hash)
                if (envelope.zone, envelope.number, envelope.previous) == after:
                    self.number += 1
                    self.hash = record_hash(value)
                    found.append(SealedEvent(offset, self.hash, envelope, sealed))
                else:
                    self.void += 1
                self.offset = offset + 1
        return found


class EventReader(Envelopes):
    """Reads a zone's accepted events from a saved place."""

    def read(self, limit: int, without: Set[int] = frozenset()) -> list[UnsealedEvent]:
        """Return up to `limit` events, in order; none at the end of the ledger.

        Events in `without` are returned as if they were erased.

        Raises:
            IntegrityError: a record was changed after it was written, or is missing, or its key
                is, though nobody erased it.
            NewerFormat: a record is of a form that only a newer program reads.
        """
        accepted = self.walk(limit)
        keys = self._ledger.keys.get([envelope.key_id for _, _, envelope, _ in accepted])
        self._check_missing([one for one in accepted if one.envelope.key_id not in keys], without)
        found: list[UnsealedEvent] = []
        for offset, hash_, envelope, sealed in accepted:
            key = keys.get(envelope.key_id)
            event = problem = None
            if key is not None and envelope.number not in without:
                try:
                    event = unseal_event(envelope, sealed, key)
                except KeyError:
                    problem = f"unknown kind {envelope.kind!r}; upgrade recollect"
                except NewerFormat as error:
                    problem = str(error)
                except IntegrityError as error:
                    raise located(error, EVENTS, self._zone, offset) from None
            found.append(
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
        return found

    def _check_missing(self, missing: Sequence[SealedEvent], without: Set[int]) -> None:
        """See that events without a key were erased."""
        offsets = {
            one.envelope.number: one.offset for one in missing if one.envelope.number not in without
        }
        if offsets:
            for number in unexplained(self._ledger, self._zone, offsets):
                raise located(lost(self._zone, number), EVENTS, self._zone, offsets[number])


def sealed_events(ledger: Ledger, zone: str, numbers: Iterable[int]) -> Iterator[SealedEvent]:
    """Yield the accepted events with these running numbers, in order; missing ones are skipped."""
    reader: Envelopes | None = None
    for number in sorted(set(numbers)):
        if number < 1:
            continue
        if reader is None or number - reader.number > SEEK_WINDOW:
            reader = Envelopes(ledger, zone, *ledger.seek(zone, number - 1))
        while reader.number < number and (walked := reader.walk(number - reader.number)):
            if walked[-1].envelope.number == number:
                yield walked[-1]


def event_at(
    ledger: Ledger, zone: str, number: int, without: Set[int] = frozenset()
) -> UnsealedEvent | None:
    """Return the event with this running number; None where there is none yet.

    An event in `without` is returned as if it were erased.
    """
    reader = EventReader(ledger, zone, *ledger.seek(zone, number - 1))
    while reader.number < number - 1 and reader.walk(number - 1 - reader.number):
        pass
    found = reader.read(1, without) if reader.number == number - 1 else []
    return found[0] if found else None


def last_switch(ledger: Ledger, zone: str) -> str | None:
    """Return the chain that a zone's last switch names; None where there is none."""
    chain: str | None = None
    reader = Envelopes(ledger, zone)
    while walked := reader.walk(_BATCH):
        for _, _, envelope, sealed in walked:
            if envelope.kind == "switch":
                key = ledger.keys.get([envelope.key_id]).get(envelope.key_id)
                payload = None if key is None else unseal_event(envelope, sealed, key).payload
                chain = payload.chain if isinstance(payload, ActivateChain) else chain
    return chain


def erased_by(ledger: Ledger, zone: str, number: int, targets: Iterable[int]) -> tuple[Source, ...]:
    """Return the events that the erasure with this number ends.

    Of the targets that it names, these are left out: numbers that are not there or come after the
    command, and kinds that are never erased.
    """
    below = (target for target in targets if 0 < target < number)
    return tuple(
        Source(envelope.number, envelope.key_id)
        for _, _, envelope, _ in sealed_events(ledger, zone, below)
        if envelope.kind not in NEVER_ERASED
    )


def misfit(
    header: ChangeHeader,
    change: ChangeRecord,
    event: SealedEvent,
    erases: tuple[Source, ...],
    key_ids: Mapping[int, bytes],
) -> str | None:
    """Return why a change record that extends its chain is void all the same; None if it counts.

    `event` is the accepted event of its number, `erases` what that asks to erase, `key_ids` are
    those of the events that the parts name. No key of what can be forgotten is asked, so that
    whoever reads the record says the same, at any time.
    """
    envelope = event.envelope
    if header.zone != envelope.zone:
        return f"change {header.number} is one of zone {header.zone}"
    if (header.event_hash, header.event_offset) != (event.hash, event.offset):
        return f"change {header.number} belongs to another event {header.number}"
    if header.erased_events != erases:
        return (
            f"change {header.number} erases {_numbers(header.erased_events)}, and its event asks "
            f"to erase {_numbers(erases)}"
        )
    for part in change.parts:
        if not part.sources:
            return f"a part of change {header.number} rests on nothing"
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
    """Reads the accepted change records of a zone's chain from a saved place."""

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
        self._events: Envelopes | None = None
        self._ahead: deque[SealedEvent] = deque()
        #: How many records of this chain did not extend it, or do not fit their event.
        self.void = 0
        # Where the last accepted record ends.
        self._settled = offset, 0

    def read(self, limit: int) -> list[AcceptedChange]:
        """Return up to `limit` accepted records, in order; none at the end of the topic.

        A record whose event is not here yet is the end: only with the event can it be judged.

        Raises:
            IntegrityError: a record was changed after it was written, or is missing.
            NewerFormat: a record is of a form that only a newer program reads.
        """
        found: list[AcceptedChange] = []
        key_ids: dict[int, bytes] = {}
        while not found:
            records = self._ledger.read(
                CHANGES, partition_of(self._zone), self.offset, limit, self._zone
            )
            if not records:
                return []
            for left, (offset, _, value) in zip(range(len(records), 0, -1), records, strict=True):
                self.offset = offset + 1
                try:
                    whole = self._assembler.add(value)
                    if whole is None:
                        continue
                    header, change = read_change(whole)
                except (IntegrityError, NewerFormat) as error:
                    raise located(error, CHANGES, self._zone, offset) from None
                if header.chain != self._chain:
                    continue
                if header.number != self.number + 1 or header.previous != self.hash:
                    self.void += 1
                    continue
                event = self._next_event(left)
                if event is None:
                    self.offset, self.void = self._settled
                    self._assembler.reset()
                    return found
                if self._counts(header, change, event, key_ids):
                    self._ahead.popleft()
                    self.number += 1
                    self.hash = record_hash(whole)
                    # A reader that starts here from a watermark must accept the same records.
                    self._assembler.reset()
                    found.append(AcceptedChange(offset, self.hash, header, change))
                    self._settled = self.offset, self.void
                else:
                    self.void += 1
        return found

    def _next_event(self, limit: int) -> SealedEvent | None:
        """Return the event of the next change, read with up to `limit` after it; None: not yet."""
        if self._events is None:
            self._events = Envelopes(
                self._ledger, self._zone, *self._ledger.seek(self._zone, self.number)
            )
        while not self._ahead:
            missing = max(self.number - self._events.number, 0)
            walked = self._events.walk(missing + limit)
            if not walked:
                return None
            self._ahead.extend(one for one in walked if one.envelope.number > self.number)
        return self._ahead[0]

    def _counts(
        self,
        header: ChangeHeader,
        change: ChangeRecord,
        event: SealedEvent,
        key_ids: dict[int, bytes],
    ) -> bool:
        """Return whether a record that extends the chain counts; `key_ids` are looked up once."""
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
        return misfit(header, change, event, erases, key_ids) is None


def whole_at(ledger: Ledger, zone: str, begin: int, end: int) -> bytes:
    """Return the record of `changes` whose last fragment is at offset `end`, and no earlier than
    `begin` its first.

    Raises:
        IntegrityError: none ends there.
    """
    assembler = Assembler()
    for offset, _, value in ledger.read(CHANGES, partition_of(zone), begin, end - begin + 1, zone):
        whole = assembler.add(value)
        if offset == end and whole is not None:
            return whole
    raise located(IntegrityError("no change record ends here"), CHANGES, zone, end)


def open_sections(
    keys: KeyStore,
    changes: Sequence[AcceptedChange],
    models: tuple[str, ...],
    without: Set[int] = frozenset(),
) -> dict[str, list[Section]]:
    """Return the sections of change records, in order, for each read model.

    Parts whose sources were erased, or are in `without`, are left out.
    """
    wanted = {
        source.key_id
        for change in changes
        for part in change.record.parts
        for source in part.sources
    }
    present = keys.get(list(wanted))
    sections: dict[str, list[Section]] = {model: [] for model in models}
    for change in changes:
        try:
            for part in change.record.parts:
                if without and any(source.number in without for source in part.sources):
                    continue
                text = unseal_part(change.record, part, present)
                if text is not None:
                    found = sections_of_today(text, models, change.header.format)
                    for model, section in found.items():
                        sections[model].append(section)
        except (IntegrityError, NewerFormat) as error:
            raise located(error, CHANGES, change.header.zone, change.offset) from None
    return sections


def sections_of_today(text: bytes, models: tuple[str, ...], format_: int) -> dict[str, Section]:
    """Return what a part of a record of this format says to each read model, in today's forms.

    Raises:
        NewerFormat: it was written by a newer program.
    """
    sections = decode_sections(text, models, format_)
    if format_ < FIRST_COMPACT_FORMAT and EmbeddingsModel.name in sections:
        sections[EmbeddingsModel.name] = older_forms.of_today(sections[EmbeddingsModel.name])
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
