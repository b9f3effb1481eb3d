"""Verifying: the ledger is whole, and a replay gives the files that are in use."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from projections.content import content_hash, content_problems, index_problems
from projections.events.queries import event_count
from projections.files import ZoneFiles
from projections.generations import Generation
from projections.readmodel import ReadModel
from projections.recall.index import stored_problems
from schemas.errors import IntegrityError, RecollectError, UnknownVersion
from schemas.events import Forget
from schemas.fragments import Assembler
from schemas.records import (
    GENESIS,
    ChangeHeader,
    ChangeRecord,
    Source,
    open_event,
    open_part,
    read_change,
    read_event,
    record_hash,
)
from schemas.seal import source_digest
from streams.ledger import CHANGES, EVENTS, Ledger, LedgerGap, Record, partition_of
from streams.ledger.sequencer import Head
from streams.locks import exclusive
from streams.node import Node
from streams.projecting import Progress, fold_events, project_changes
from streams.reading import SealedEvent, misfit

_BATCH = 2_000
_MOST_PROBLEMS = 50


class ModelCheck(msgspec.Struct, frozen=True):
    """A read model's content hash, live and replayed."""

    model: str
    hash: str
    replayed: str
    ok: bool


class Verification(msgspec.Struct, frozen=True):
    """What `verify` found. `events` counts readable turns, `void` records that do not count."""

    ok: bool
    ledger_ok: bool
    events: int
    models: list[ModelCheck]
    problems: list[str]
    void: int


class _Known(NamedTuple):
    """An accepted event, and the numbers that it asks to erase."""

    event: SealedEvent
    targets: tuple[int, ...]


class LedgerCheck:
    """Reads a zone's records with an eye on every byte; collects what is wrong and goes on."""

    def __init__(self, ledger: Ledger, zone: str, chain: str, decided: int) -> None:
        self._decided = decided
        self._ledger = ledger
        self._zone = zone
        self._partition = partition_of(zone)
        self._chain = chain
        self._accepted: dict[int, _Known] = {}
        self._unreadable: dict[int, int] = {}
        self._erased: set[bytes] = set()
        self.problems: list[str] = []
        self.void = 0

    def run(self, progress: Progress | None = None) -> None:
        """Check both topics, and what the ledger goes by when it publishes."""
        self._events(progress)
        self._changes(progress)
        for number, offset in self._unreadable.items():
            if self._accepted[number].event.envelope.key_id not in self._erased:
                self._say(
                    EVENTS,
                    offset,
                    f"the key of event {number} is missing, and no erasure explains it",
                )
        events = [known.event for known in self._accepted.values()]
        self.problems += self._ledger.check(
            self._zone,
            [(event.offset, event.envelope.source) for event in events],
            Head(len(events), events[-1].hash if events else GENESIS),
        )

    def _say(self, topic: str, offset: int, what: str) -> None:
        self.problems.append(f"{topic}/{self._partition} offset {offset}: {what}")

    def _events(self, progress: Progress | None) -> None:
        number, previous = 0, GENESIS
        broken = False
        seen: dict[bytes, int] = {}
        # What an overtaken sequencer appended in one go: the first is void, and so are the next.
        void: set[bytes] = set()
        for record in _all(self._ledger, EVENTS, self._partition, self.problems):
            if record.zone != self._zone:
                continue
            if progress:
                progress(1)
            try:
                envelope, sealed = read_event(record.value)
            except (IntegrityError, UnknownVersion) as error:
                self._say(EVENTS, record.offset, str(error))
                continue
            hash_ = record_hash(record.value)
            after = (self._zone, number + 1, previous)
            if (envelope.zone, envelope.number, envelope.previous) != after:
                if hash_ in seen:
                    self._say(EVENTS, record.offset, f"doubles the record at offset {seen[hash_]}")
                elif envelope.number > number and envelope.previous not in void and not broken:
                    broken = True
                    self._say(
                        EVENTS,
                        record.offset,
                        f"event {envelope.number} does not follow event {number}: a record "
                        "between or before was changed or removed",
                    )
                void.add(hash_)
                self.void += 1
                continue
            number, previous = envelope.number, hash_
            seen[hash_] = record.offset
            accepted = SealedEvent(record.offset, hash_, envelope, sealed)
            self._accepted[number] = _Known(accepted, ())
            key = self._ledger.keys.get([envelope.key_id]).get(envelope.key_id)
            if key is None:
                self._unreadable[number] = record.offset
                continue
            try:
                event = open_event(envelope, sealed, key)
                known_by = source_digest(
                    self._ledger.keys.secret,
                    self._zone,
                    envelope.platform,
                    event.payload.source_id,
                )
                if envelope.source != known_by:
                    self._say(EVENTS, record.offset, f"event {number} is not known by its id")
                if isinstance(event.payload, Forget):
                    self._accepted[number] = _Known(accepted, event.payload.targets)
            except IntegrityError as error:
                self._say(EVENTS, record.offset, f"event {number}: {error}")
            except (KeyError, UnknownVersion):
                # Parked, which is a matter of the changes.
                pass

    def _changes(self, progress: Progress | None) -> None:
        number, previous = 0, GENESIS
        seen: dict[bytes, int] = {}
        void: set[bytes] = set()
        stray: list[tuple[int, ChangeHeader]] = []
        assembler = Assembler()
        for record in _all(self._ledger, CHANGES, self._partition, self.problems):
            if record.zone != self._zone:
                continue
            if progress:
                progress(1)
            try:
                value = assembler.add(record.value)
                if value is None:
                    continue
                header, change = read_change(value)
            except (IntegrityError, UnknownVersion) as error:
                self._say(CHANGES, record.offset, str(error))
                continue
            if header.chain != self._chain:
                continue
            hash_ = record_hash(value)
            if header.number != number + 1 or header.previous != previous:
                if hash_ in seen:
                    # No nonce makes a change without parts its own: two who conclude the same
                    # event, one of them overtaken, append the same bytes.
                    if change.parts:
                        doubled = f"doubles the record at offset {seen[hash_]}"
                        self._say(CHANGES, record.offset, doubled)
                elif header.previous not in void:
                    stray.append((record.offset, header))
                void.add(hash_)
                self.void += 1
                continue
            if (wrong := self._misfit(header, change)) is not None:
                self._say(CHANGES, record.offset, f"{wrong}: it counts for no reader")
                void.add(hash_)
                self.void += 1
                continue
            number, previous = header.number, hash_
            seen[hash_] = record.offset
            # As every reader does, so that what is accepted here is what they accept.
            assembler.forget()
            self._erased |= {source.key_id for source in header.erases}
            keys = self._ledger.keys.get(
                [source.key_id for part in change.parts for source in part.sources]
            )
            for part in change.parts:
                try:
                    open_part(change, part, keys)
                except IntegrityError as error:
                    self._say(CHANGES, record.offset, f"change {number}: {error}")
        self.void += assembler.void
        beyond = [(offset, header) for offset, header in stray if header.number > number]
        if beyond:
            offset, header = beyond[0]
            self._say(
                CHANGES,
                offset,
                f"change {header.number} does not follow change {number}: a record between or "
                "before was changed or removed",
            )
        if number < self._decided:
            self._say(
                CHANGES,
                self._ledger.end(CHANGES, self._partition),
                f"the chain ends at change {number}, the files at {self._decided}",
            )

    def _misfit(self, header: ChangeHeader, change: ChangeRecord) -> str | None:
        """Return why a record that extends its chain counts for no reader."""
        known = self._accepted.get(header.number)
        if known is None:
            return f"change {header.number} belongs to no event"
        erases = tuple(
            Source(target, self._accepted[target].event.envelope.key_id)
            for target in sorted(set(known.targets))
            if 0 < target < header.number and self._accepted[target].event.envelope.kind != "forget"
        )
        named = {source.number for part in change.parts for source in part.sources}
        key_ids = {
            number: self._accepted[number].event.envelope.key_id
            for number in named & self._accepted.keys()
        }
        return misfit(header, change, known.event, erases, key_ids)


def _all(ledger: Ledger, topic: str, partition: int, problems: list[str]) -> Iterator[Record]:
    """Yield every record of a partition; a missing offset is noted and passed over."""
    offset = 0
    end = ledger.end(topic, partition)
    while offset < end:
        try:
            records = ledger.read(topic, partition, offset, _BATCH)
        except LedgerGap as error:
            # Up to the gap one by one: what is there is still worth checking.
            records = _before_gap(ledger, topic, partition, offset)
            if not records:
                problems.append(str(error))
                offset += 1
                continue
        yield from records
        offset = records[-1].offset + 1


def _before_gap(ledger: Ledger, topic: str, partition: int, offset: int) -> list[Record]:
    records: list[Record] = []
    while True:
        try:
            (record,) = ledger.read(topic, partition, offset + len(records), 1)
        except (LedgerGap, ValueError):
            return records
        records.append(record)


def verify(node: Node, zone: str, progress: Progress | None = None) -> Verification:
    """Check a zone's ledger, replay it into scratch files and compare those with the live ones.

    Others may publish and ask meanwhile: what is compared is the state at one moment.
    """
    directory = node.zone(zone)
    node.current(zone)
    problems: list[str] = []
    with exclusive(directory.path / "rebuild.lock"), node.driving(zone):
        directory.clear_leftovers()
        try:
            node.drive_held(zone, progress)
        except (RecollectError, apsw.Error) as error:
            problems.append(f"the files could not be brought up to the ledger: {error}")
        generation = node.current(zone)
        with node.open(zone, generation) as live:
            try:
                decided = live.memory.watermark().number
            except apsw.Error as error:
                decided = 0
                problems.append(f"memory.db: {error}")
            check = _check_ledger(node.ledger, zone, generation.chain, decided, progress)
            problems += check.problems
            models, events = _compare(node, zone, generation, live, problems)
    unique = list(dict.fromkeys(problems))
    ledger_ok = not check.problems
    ok = ledger_ok and not unique and bool(models) and all(model.ok for model in models)
    return Verification(ok, ledger_ok, events, models, unique[:_MOST_PROBLEMS], check.void)


def _check_ledger(
    ledger: Ledger, zone: str, chain: str, decided: int, progress: Progress | None
) -> LedgerCheck:
    """Return the check of a ledger that stood still meanwhile, or seems never to do so."""
    partition = partition_of(zone)
    for _ in range(3):
        end = ledger.end(EVENTS, partition)
        check = LedgerCheck(ledger, zone, chain, decided)
        check.run(progress)
        if not check.problems or ledger.end(EVENTS, partition) == end:
            break
    return check


def _compare(
    node: Node, zone: str, generation: Generation, live: ZoneFiles, problems: list[str]
) -> tuple[list[ModelCheck], int]:
    """Return the comparison of each file with its replay, and how many events are readable."""
    scratch_path = Path(tempfile.mkdtemp(prefix="scratch-", dir=node.zone(zone).path))
    models: list[ModelCheck] = []
    try:
        # events.db grows whenever somebody asks; it is compared as it stands now.
        live.events.connection.execute("BEGIN")
        upto = live.events.watermark().number
        events = event_count(live.events.connection)
        with ZoneFiles(scratch_path, generation.encoder, generation.dimension) as scratch:
            try:
                fold_events(node.ledger, zone, scratch, upto=upto)
                project_changes(node.ledger, zone, generation.chain, scratch)
            except (IntegrityError, UnknownVersion) as error:
                # What was replayed up to there still says which files differ.
                problems.append(f"the replay stopped: {error}")
            models = [
                _compare_model(ours, theirs, problems)
                for ours, theirs in zip(live.all, scratch.all, strict=True)
            ]
            problems += stored_problems(live)
    except apsw.Error as error:
        problems.append(f"the replay stopped: {error}")
        events = 0
    finally:
        shutil.rmtree(scratch_path, ignore_errors=True)
    return models, events


def _compare_model(ours: ReadModel, theirs: ReadModel, problems: list[str]) -> ModelCheck:
    replayed = content_hash(theirs)
    try:
        hash_ = content_hash(ours)
        found = content_problems(ours, theirs)
        if ours.connection.in_transaction:
            ours.connection.execute("COMMIT")
        found += index_problems(ours)
    except apsw.Error as error:
        hash_, found = "", [f"{ours.name}.db: {error}"]
    problems += found
    return ModelCheck(ours.name, hash_, replayed, hash_ == replayed and not found)
