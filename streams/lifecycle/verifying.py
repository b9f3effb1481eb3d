"""Verify that the ledger is intact, and that a replay reproduces the files in use."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from recollect.projections.content import content_hash, content_problems, index_problems
from recollect.projections.events.event_queries import event_count, switch_numbers
from recollect.projections.file_permissions import make_directory, read_only
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.projections.readmodel import ReadModel
from recollect.projections.recall.index.zone_index import stored_problems
from recollect.projections.sqlite import connect, copy_file, rows
from recollect.schemas.changes import READ_MODEL_ROWS
from recollect.schemas.errors import (
    CorruptFile,
    HomeError,
    IntegrityError,
    NewerFormat,
    RecollectError,
)
from recollect.schemas.events import (
    Analyse,
    ConsolidateMemories,
    FindDreams,
    Forget,
    ModelAnswered,
    ModelConsolidated,
    RecordingRef,
    Reflect,
)
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.recordings import read_recording, unseal_recording
from recollect.schemas.ledger.records import (
    GENESIS,
    ChangeHeader,
    ChangeRecord,
    Source,
    read_change,
    read_event,
    record_hash,
    unseal_event,
    unseal_part,
)
from recollect.schemas.ledger.seal import source_digest
from recollect.schemas.wire import FileCheck, Verification
from recollect.streams.engine.node import Node
from recollect.streams.ledger import (
    CHANGES,
    EVENTS,
    RECORDINGS,
    Ledger,
    LedgerGap,
    Record,
    partition_of,
)
from recollect.streams.ledger.ledger import Head
from recollect.streams.lifecycle.residue import find_residue
from recollect.streams.projecting.projector import OnProgress, project_changes, project_events
from recollect.streams.records.chain_readers import NEVER_ERASED, SealedEvent, void_reason
from recollect.streams.records.heads import ExpectedHead, head_text
from recollect.streams.records.skipped_records import is_skipped
from recollect.streams.system.locks import exclusive

_BATCH = 2_000
_MAX_PROBLEMS = 100


class _AcceptedEvent(NamedTuple):
    """An accepted event, and the numbers of the events that it erases."""

    event: SealedEvent
    targets: tuple[int, ...]


class LedgerCheck:
    """Reads all records of a zone, checks every byte, and collects problems."""

    def __init__(self, ledger: Ledger, zone: str, chain: str, decided: int) -> None:
        self._decided = decided
        self._ledger = ledger
        self._zone = zone
        self._partition = partition_of(zone)
        self._chain = chain
        self._accepted: dict[int, _AcceptedEvent] = {}
        self._unreadable: dict[int, int] = {}
        self._erased: set[bytes] = set()
        self._erasures: dict[int, frozenset[int]] = {}
        # Recorded model answers: (offset of the citing event, reference to the recording).
        self._cited_answers: list[tuple[int, RecordingRef]] = []
        self.problems: list[str] = []
        self.void = 0

    def run(self, progress: OnProgress | None = None) -> None:
        """Check all topics, and the ledger's publishing state."""
        self._events(progress)
        self._recordings(progress)
        self._changes(progress)
        for number, offset in self._unreadable.items():
            if self._accepted[number].event.envelope.key_id not in self._erased:
                self._add_problem(
                    EVENTS,
                    offset,
                    f"the key of event {number} is missing, and no erasure explains it",
                )
        events = [accepted.event for accepted in self._accepted.values()]
        self.problems += self._ledger.check(
            self._zone,
            [(event.offset, event.envelope) for event in events],
            self.head,
        )

    def _add_problem(self, topic: str, offset: int, problem: str) -> None:
        self.problems.append(f"{topic}/{self._partition} offset {offset}: {problem}")

    def _events(self, progress: OnProgress | None) -> None:
        number, previous = 0, GENESIS
        broken = False
        seen: dict[bytes, int] = {}
        # If a sequencer is overtaken, the whole batch that it appended is void.
        void: set[bytes] = set()
        for record in _records_tolerating_gaps(
            self._ledger, EVENTS, self._partition, self.problems
        ):
            if record.zone != self._zone:
                continue
            if progress:
                progress(1)
            try:
                envelope, sealed = read_event(record.value)
            except (IntegrityError, NewerFormat) as error:
                self._report_unreadable(EVENTS, record, error)
                continue
            hash_ = record_hash(record.value)
            expected = (self._zone, number + 1, previous)
            if (envelope.zone, envelope.number, envelope.previous) != expected:
                if hash_ in seen:
                    self._add_problem(
                        EVENTS, record.offset, f"duplicates the record at offset {seen[hash_]}"
                    )
                elif envelope.number > number and envelope.previous not in void and not broken:
                    broken = True
                    self._add_problem(
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
            self._accepted[number] = _AcceptedEvent(accepted, ())
            key = self._ledger.keys.get([envelope.key_id]).get(envelope.key_id)
            if key is None:
                self._unreadable[number] = record.offset
                continue
            try:
                event = unseal_event(envelope, sealed, key)
                expected_source = source_digest(
                    self._ledger.keys.secret,
                    self._zone,
                    envelope.platform,
                    event.payload.source_id,
                )
                if envelope.source != expected_source:
                    self._add_problem(
                        EVENTS,
                        record.offset,
                        f"the source hash of event {number} does not match its id",
                    )
                if isinstance(event.payload, Forget):
                    self._accepted[number] = _AcceptedEvent(accepted, event.payload.targets)
                if isinstance(
                    event.payload,
                    ModelAnswered
                    | ModelConsolidated
                    | Reflect
                    | ConsolidateMemories
                    | FindDreams
                    | Analyse,
                ):
                    self._cited_answers += [
                        (record.offset, reference) for reference in event.payload.answers
                    ]
            except IntegrityError as error:
                self._add_problem(EVENTS, record.offset, f"event {number}: {error}")
            except (KeyError, NewerFormat):
                # The record is parked, which the change records show.
                pass

    def _report_unreadable(self, topic: str, record: Record, error: Exception) -> None:
        """Report a record that cannot be read, unless a command tells readers to skip it."""
        if is_skipped(self._ledger, self._zone, topic, record.offset, record.value):
            self.void += 1
        else:
            self._add_problem(topic, record.offset, str(error))

    def _recordings(self, progress: OnProgress | None) -> None:
        """Check recorded model answers, and that every cited one exists unchanged."""
        hashes: dict[int, bytes] = {}
        for record in _records_tolerating_gaps(
            self._ledger, RECORDINGS, self._partition, self.problems
        ):
            if record.zone != self._zone:
                continue
            if progress:
                progress(1)
            hashes[record.offset] = record_hash(record.value)
            try:
                recording = read_recording(record.value)
                sources = [source.key_id for source in recording.header.sources]
                unseal_recording(recording, self._ledger.keys.get(sources))
            except (IntegrityError, NewerFormat) as error:
                self._add_problem(RECORDINGS, record.offset, str(error))
        for offset, reference in self._cited_answers:
            if hashes.get(reference.offset) != reference.hash:
                state = "is missing" if reference.offset not in hashes else "was changed"
                self._add_problem(
                    RECORDINGS,
                    reference.offset,
                    f"a recorded model answer {state}; the event at offset {offset} cites it",
                )

    def _changes(self, progress: OnProgress | None) -> None:
        number, previous = 0, GENESIS
        seen: dict[bytes, int] = {}
        void: set[bytes] = set()
        out_of_order: list[tuple[int, ChangeHeader]] = []
        assembler = Assembler()
        for record in _records_tolerating_gaps(
            self._ledger, CHANGES, self._partition, self.problems
        ):
            if record.zone != self._zone:
                continue
            if progress:
                progress(1)
            try:
                value = assembler.add(record.value)
                if value is None:
                    continue
                header, change = read_change(value)
            except (IntegrityError, NewerFormat) as error:
                self._report_unreadable(CHANGES, record, error)
                continue
            if header.chain != self._chain:
                continue
            hash_ = record_hash(value)
            if header.number != number + 1 or header.previous != previous:
                if hash_ in seen:
                    # Empty changes have no nonce, so competing deciders append identical bytes.
                    if change.parts:
                        duplicate = f"duplicates the record at offset {seen[hash_]}"
                        self._add_problem(CHANGES, record.offset, duplicate)
                elif header.previous not in void:
                    out_of_order.append((record.offset, header))
                void.add(hash_)
                self.void += 1
                continue
            if (reason := self._void_reason(header, change)) is not None:
                self._add_problem(CHANGES, record.offset, f"{reason}: every reader skips it")
                void.add(hash_)
                self.void += 1
                continue
            number, previous = header.number, hash_
            seen[hash_] = record.offset
            # Every reader resets the assembler here, so that all accept the same records.
            assembler.reset()
            if header.erased_events:
                self._check_erased(record.offset, header)
            keys = self._ledger.keys.get(
                [source.key_id for part in change.parts for source in part.sources]
            )
            for part in change.parts:
                try:
                    unseal_part(change, part, keys)
                except IntegrityError as error:
                    self._add_problem(CHANGES, record.offset, f"change {number}: {error}")
        self.void += assembler.void
        beyond = [(offset, header) for offset, header in out_of_order if header.number > number]
        if beyond:
            offset, header = beyond[0]
            self._add_problem(
                CHANGES,
                offset,
                f"change {header.number} does not follow change {number}: a record between or "
                "before was changed or removed",
            )
        if number < self._decided:
            self._add_problem(
                CHANGES,
                self._ledger.end(CHANGES, self._partition),
                f"the chain ends at change {number}, the files at {self._decided}",
            )

    def _check_erased(self, offset: int, header: ChangeHeader) -> None:
        """Register an accepted erasure; report those of its keys that still exist."""
        self._erased |= {source.key_id for source in header.erased_events}
        self._erasures[header.number] = frozenset(source.number for source in header.erased_events)
        if header.number > self._decided:
            # The keys are destroyed when the files reach this record.
            return
        remaining = self._ledger.keys.get([source.key_id for source in header.erased_events])
        for source in header.erased_events:
            if source.key_id in remaining:
                self._add_problem(
                    CHANGES,
                    offset,
                    f"the key of event {source.number} should not exist: erasure {header.number} "
                    "destroyed it, and with it the erased text can be read; if an older keys.db "
                    "was put back, recollect rebuild destroys it again",
                )

    @property
    def head(self) -> Head:
        """The last accepted event."""
        return self._head(len(self._accepted))

    def _head(self, number: int) -> Head:
        accepted = self._accepted.get(number)
        return Head(number, accepted.event.hash if accepted else GENESIS)

    def check_head(self, expected: ExpectedHead) -> None:
        """Report a problem if the ledger does not contain an earlier head."""
        last = len(self._accepted)
        actual = self._head(expected.number) if expected.number <= last else None
        if (problem := expected.mismatch(last, actual)) is not None:
            self.problems.append(problem)

    def erasures(self, upto: int) -> dict[int, frozenset[int]]:
        """Return the erasures up to record `upto`: number -> numbers of the erased events."""
        return {number: erased for number, erased in self._erasures.items() if number <= upto}

    def _void_reason(self, header: ChangeHeader, change: ChangeRecord) -> str | None:
        """Return why a record that extends its chain is void, or None if it is valid."""
        accepted = self._accepted.get(header.number)
        if accepted is None:
            return f"change {header.number} belongs to no event"
        erases = tuple(
            Source(target, self._accepted[target].event.envelope.key_id)
            for target in sorted(set(accepted.targets))
            if 0 < target < header.number
            and self._accepted[target].event.envelope.kind not in NEVER_ERASED
        )
        numbers = {source.number for part in change.parts for source in part.sources}
        key_ids = {
            number: self._accepted[number].event.envelope.key_id
            for number in numbers & self._accepted.keys()
        }
        return void_reason(header, change, accepted.event, erases, key_ids)


def _records_tolerating_gaps(
    ledger: Ledger, topic: str, partition: int, problems: list[str]
) -> Iterator[Record]:
    """Yield every record of a partition; report missing offsets and skip them."""
    offset = 0
    end = ledger.end(topic, partition)
    while offset < end:
        try:
            records = ledger.read(topic, partition, offset, _BATCH)
        except LedgerGap as error:
            # Read records one by one up to the gap, so that all existing ones are checked.
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


def verify(
    node: Node,
    zone: str,
    progress: OnProgress | None = None,
    expected_head: ExpectedHead | None = None,
) -> Verification:
    """Check a zone's ledger, and compare its files with a replay; change nothing.

    Copies of the files are brought up to date, as the next command would do, and compared with a
    replay from scratch. `expected_head` is an earlier head, which the ledger must contain.
    Concurrent publishing and queries are allowed.
    """
    directory = node.zone(zone)
    problems: list[str] = []
    with ExitStack() as stack:
        _hold_locks(node, zone, stack)
        scratch = stack.enter_context(_scratch(directory.path))
        used = _in_use(node, zone, problems)
        live = stack.enter_context(_Copies(node, zone, used, scratch / "live"))
        check = _check_ledger(node.ledger, zone, used.chain, live.decided, progress)
        if expected_head is not None:
            check.check_head(expected_head)
        problems += check.problems
        models = live.compare(scratch / "replayed")
        problems += live.problems
        events = live.events
        for generation in directory.generations():
            if generation.complete and generation.name != used.name:
                generation_scratch = scratch / generation.name
                with _Copies(node, zone, generation, generation_scratch / "live") as kept:
                    kept.compare(generation_scratch / "replayed")
                problems += [f"{generation.name}: {problem}" for problem in kept.problems]
        problems += find_residue(
            directory, check.erasures(live.decided), used=used.name, scratch=scratch
        )
    unique = list(dict.fromkeys(problems))
    ledger_ok = not check.problems
    return Verification(
        ok=ledger_ok and not unique and all(model.ok for model in models),
        ledger_ok=ledger_ok,
        events=events,
        head=head_text(check.head),
        lag=max(check.head.number - live.decided, 0),
        models=models,
        problems=unique[:_MAX_PROBLEMS],
        void_records=check.void,
    )


def _hold_locks(node: Node, zone: str, stack: ExitStack) -> None:
    """Hold the locks for driving and rebuilding the zone, if it has files."""
    directory = node.zone(zone).path
    if directory.is_dir() and not read_only(directory):
        stack.enter_context(exclusive(directory / "rebuild.lock"))
        stack.enter_context(node.driving(zone))


@contextmanager
def _scratch(directory: Path) -> Iterator[Path]:
    """Create a directory for copies next to the files, or else in the system's temporary folder."""
    parent = directory if directory.is_dir() and not read_only(directory) else None
    path = Path(tempfile.mkdtemp(prefix="scratch-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _in_use(node: Node, zone: str, problems: list[str]) -> Generation:
    """Return the current generation, or the first one if none exists yet."""
    directory = node.zone(zone)
    try:
        return directory.current()
    except HomeError as error:
        if directory.generations():
            problems.append(str(error))
    return node.first_generation(zone)


class _Copies:
    """Copies of a generation's files, and the problems found in them."""

    def __init__(self, node: Node, zone: str, generation: Generation, directory: Path) -> None:
        self._node = node
        self._zone = zone
        self._generation = generation
        self._source = node.zone(zone).directory(generation)
        self._damaged: set[str] = set()
        self.problems: list[str] = []
        make_directory(directory)
        names = ("events", *READ_MODEL_ROWS)
        # If a process was killed before it created the files, there are none.
        if generation.name and any((self._source / f"{name}.db").exists() for name in names):
            for name in names:
                self._copy(name, directory / f"{name}.db")
        self.files = ZoneFiles(directory, generation.encoder, generation.dimension)
        #: The last record that every file has applied.
        self.decided = self._decided()
        if generation.name and not self._damaged and self.files.is_purge_pending():
            self.problems.append(
                "an erasure is unfinished: erased text may remain in free pages of the files; the "
                "next recollect status, ingest or worker finishes it"
            )
        #: The number of readable events; set by `compare`.
        self.events = 0

    def __enter__(self) -> _Copies:
        return self

    def __exit__(self, *exception: object) -> None:
        self.files.close()

    def _copy(self, name: str, target: Path) -> None:
        path = self._source / f"{name}.db"
        try:
            if not path.exists():
                raise apsw.CantOpenError("it is missing")
            copy_file(path, target)
            with closing(connect(target)) as connection:
                rows(connection, "SELECT name FROM sqlite_schema")
        except apsw.Error as error:
            self._damaged.add(name)
            self.problems.append(f"{name}.db: {error}; run recollect rebuild")
            for suffix in ("", "-wal", "-shm"):
                target.with_name(target.name + suffix).unlink(missing_ok=True)

    def _decided(self) -> int:
        numbers = []
        for model in self.files.decided:
            try:
                numbers.append(model.watermark().number)
            except apsw.Error as error:
                self.problems.append(f"{model.name}.db: {error}")
                numbers.append(0)
        return min(numbers)

    def compare(self, scratch: Path) -> list[FileCheck]:
        """Bring the copies up to date, and compare each with its replay."""
        node, zone, chain = self._node, self._zone, self._generation.chain
        numbers: list[int | None] = [None, None]
        try:
            node.project_turns_into(zone, self.files)
            project_changes(node.ledger, zone, chain, self.files, destroy_erased_keys=False)
            numbers = [self.files.events.watermark().number, self.files.watermark().number]
        except (RecollectError, apsw.Error) as error:
            self.problems.append(f"the files could not be brought up to the ledger: {error}")
        files = self.files
        with ZoneFiles(scratch, files.embeddings.model, files.embeddings.dimension) as replayed:
            try:
                project_events(node.ledger, zone, replayed, upto=numbers[0])
                project_changes(
                    node.ledger, zone, chain, replayed, upto=numbers[1], destroy_erased_keys=False
                )
            except (IntegrityError, NewerFormat) as error:
                # The replay up to there still shows which files differ.
                self.problems.append(f"the replay stopped: {error}")
            with suppress(apsw.Error):
                self.events = event_count(files.events.connection)
            switches = switch_numbers(replayed.events.connection)
            models = [
                FileCheck(model.name, "", content_hash(replica, switches), False)
                if model.name in self._damaged
                else _compare_model(model, replica, switches, self.problems)
                for model, replica in zip(files.all, replayed.all, strict=True)
            ]
        self._check_index()
        return models

    def _check_index(self) -> None:
        """Check recall's stored index against the files in use."""
        if self._generation.name and not self._damaged:
            # Other errors are reported by the comparison.
            with (
                suppress(apsw.Error),
                self._node.open_to_read(self._zone, self._generation) as files,
            ):
                try:
                    self.problems += stored_problems(files)
                except CorruptFile as error:
                    self.problems.append(str(error))


def _check_ledger(
    ledger: Ledger, zone: str, chain: str, decided: int, progress: OnProgress | None
) -> LedgerCheck:
    """Check a ledger; if there are problems and the ledger grew meanwhile, check it again."""
    partition = partition_of(zone)
    for _ in range(3):
        end = ledger.end(EVENTS, partition)
        check = LedgerCheck(ledger, zone, chain, decided)
        check.run(progress)
        if not check.problems or ledger.end(EVENTS, partition) == end:
            break
    return check


def _compare_model(
    model: ReadModel, replica: ReadModel, switches: Sequence[int], problems: list[str]
) -> FileCheck:
    replayed = content_hash(replica, switches)
    try:
        hash_ = content_hash(model, switches)
        differences = content_problems(model, replica)
        if model.connection.in_transaction:
            model.connection.execute("COMMIT")
        differences += index_problems(model)
    except apsw.Error as error:
        hash_, differences = "", [f"{model.name}.db: {error}"]
    problems += differences
    return FileCheck(model.name, hash_, replayed, hash_ == replayed and not differences)
