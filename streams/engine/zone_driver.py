"""The commit, step by step: how one zone's records become change records and rows.

For a batch of ledger records:

1. read it, and project its raw turns into events.db;
2. extract from all its records (models and the encoder work in this step, ahead and in parallel);
3. take the locks, and record by record resolve and project inside the open transactions;
4. append the change records to `changes`, and read them back;
5. if they were accepted unchanged, destroy the keys of erased events and commit the files, each
   with its watermark; otherwise roll back and project what the topic says instead;
6. advance the journal's cursors;
7. publish the commands in the accepted change records.

A crash after 4 leaves change records without rows; `catch_up` applies them before anything is
decided (rule 4 of docs/commit.md). Each step passes a failpoint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager

import apsw

from recollect.projections.events.event_queries import sources
from recollect.projections.files import ZoneFiles
from recollect.projections.readmodel import Watermark
from recollect.schemas.changes import DecidedPart, encode_part
from recollect.schemas.errors import (
    CommandConflict,
    ErasureFailed,
    InjectedFailure,
    IntegrityError,
    NewerFormat,
    RecollectError,
)
from recollect.schemas.events import RESERVED_PLATFORM, Forget
from recollect.schemas.ledger.fragments import MAX_FRAGMENT_BYTES, split
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    ChangeHeader,
    Source,
    record_hash,
    write_change,
)
from recollect.schemas.ledger.seal import new_key
from recollect.streams.agents import AGENTS, Agent
from recollect.streams.deciding.decider import Decider, Decision, Extracted, PendingAnnotations
from recollect.streams.deciding.dependencies import with_dependencies
from recollect.streams.deciding.erasing import clear_scratch, erase
from recollect.streams.encoder.encoder_errors import EncoderError
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.journal import Journal, OutboxCursor
from recollect.streams.ledger import CHANGES, Ledger, LedgerUnavailable
from recollect.streams.projecting.projector import (
    OnProgress,
    commit,
    decision_row,
    destroy_keys,
    empty_logs_after,
    mark_erasure_purges,
    project_changes,
    project_events,
    watermark_after,
)
from recollect.streams.publishing.commands import publish_commands
from recollect.streams.records.chain_readers import (
    AcceptedChange,
    ChangeReader,
    EventReader,
    UnsealedEvent,
    open_outbox,
)
from recollect.streams.records.erased_keys import check_sources
from recollect.streams.system.failpoints import failpoint

# The number of failures of the agents after which a record is parked.
MAX_ATTEMPTS = 3
# The number of process crashes after which a record is parked: larger, because processes are also
# killed without a fault of the record.
MAX_CRASHES = 10

# Enough texts to keep every core of the encoder busy while the previous batch is committed.
BATCH_SIZE = 64

# Faults of the machine, not of a record: never a reason to park.
_ENVIRONMENT = (
    OSError,
    MemoryError,
    IntegrityError,
    NewerFormat,
    LedgerUnavailable,
    CommandConflict,
    EncoderError,
    InjectedFailure,
    apsw.FullError,
    apsw.IOError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.NoMemError,
    apsw.CorruptError,
    apsw.NotADBError,
)


class RebuildRegression(RecollectError):
    """A record that was decided before fails in a rebuild."""


class ZoneDriver:
    """Drives one zone of one generation, on any ledger.

    For a rebuild, `parked` are the records that the replayed chain parked, with their reasons; they
    are parked again. That chain decided all other records up to the number `decided`. If one of
    these fails now, that is an error, and the record is not parked.
    """

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        chain: str,
        files: ZoneFiles,
        gateway: EncoderGateway,
        journal: Journal,
        *,
        agents: Sequence[Agent] = AGENTS,
        parked: Mapping[int, str] | None = None,
        decided: int = 0,
        owner: bool = True,
        publishes: bool = True,
        batch: int = BATCH_SIZE,
        before_key_destruction: Callable[[int], None] | None = None,
    ) -> None:
        """Drive a zone whose keys other drivers may destroy, unless it is the `owner`.

        `publishes`: whether the driver publishes the commands in its change records.
        `before_key_destruction` is called with an erasure's number before keys are destroyed.
        """
        self._ledger = ledger
        self._zone = zone
        self._chain = chain
        self._files = files
        self._gateway = gateway
        self._journal = journal
        self._agents = agents
        self._parked = dict(parked or {})
        self._decided = decided
        self._owner = owner
        self._publishes = publishes
        self._batch = batch
        self._before_key_destruction = before_key_destruction
        self._decider = Decider(ledger, zone, files, gateway, agents)
        self._erased: set[int] = set()
        clear_scratch(files)

    def run(
        self, progress: OnProgress | None = None, should_continue: Callable[[], bool] = lambda: True
    ) -> int:
        """Handle every record up to the ledger's end; return the number of decided records.

        Stop between two batches once `should_continue` returns False.
        """
        decided = 0
        while should_continue():
            self.catch_up()
            if self._interrupted():
                decided += self._decide_one()
            else:
                decided += self._stream(progress, should_continue)
            if not self._interrupted() and self._at_end():
                break
        return decided

    def _stream(self, progress: OnProgress | None, should_continue: Callable[[], bool]) -> int:
        """Decide batch after batch; return the number of decided records.

        Meanwhile the encoder works on the next batch, and the text reader annotates the batch after
        that. Stop at the ledger's end, or if another driver was faster, or if a batch failed. The
        journal then shows the failed batch as interrupted.
        """
        decided = 0
        events = self._event_reader()
        with ThreadPoolExecutor(1, thread_name_prefix="encode") as ahead:
            try:
                records, pending = self._read_and_annotate(events, ahead)
                next_records, next_pending = self._read_and_annotate(events, ahead)
                extracted = self.extract(records, ahead, pending)
                while records and should_continue():
                    after_next, after_next_pending = self._read_and_annotate(events, ahead)
                    next_extracted = self.extract(next_records, ahead, next_pending)
                    accepted = self.decide(records, extracted)
                    if not accepted:
                        break
                    decided += accepted
                    if progress:
                        progress(accepted)
                    records, extracted = next_records, next_extracted
                    next_records, next_pending = after_next, after_next_pending
            except _ENVIRONMENT:
                raise
            except Exception:
                # Next, each record is decided by itself, which shows which one is at fault.
                self._journal.begin(self._zone, self._chain, events.number)
        return decided

    def _event_reader(self) -> EventReader:
        mark = self._files.watermark()
        return EventReader(
            self._ledger, self._zone, mark.number, mark.event_offset, mark.event_hash
        )

    def _at_end(self) -> bool:
        return not self._event_reader().read(1)

    def _interrupted(self) -> bool:
        """Return whether the next record belongs to a batch that was begun and failed."""
        last = self._journal.interrupted_batch_end(self._zone, self._chain)
        return last > 0 and last > self._files.watermark().number

    def catch_up(self) -> None:
        """Project the topics into the files, and publish pending commands."""
        project_events(self._ledger, self._zone, self._files)
        project_changes(self._ledger, self._zone, self._chain, self._files)
        self.empty_outbox()

    def read(self, reader: EventReader, limit: int | None = None) -> list[UnsealedEvent]:
        """Return the next batch (1); an erasure is always a batch of its own.

        An erasure depends on every change record before it, so those must be in the topic first.
        """
        mark = (reader.number, reader.offset, reader.hash)
        records = reader.read(self._batch if limit is None else limit)
        for index, record in enumerate(records):
            if record.kind == "forget" and len(records) > 1:
                reader.number, reader.offset, reader.hash = mark
                records = reader.read(max(index, 1))
                break
        if records and self._files.events.watermark().number < records[-1].source.number:
            # These records arrived after `catch_up`, but `extract` must see every earlier turn.
            project_events(self._ledger, self._zone, self._files)
        failpoint("commit.read")
        return records

    def _read_and_annotate(
        self, reader: EventReader, ahead: Executor
    ) -> tuple[list[UnsealedEvent], PendingAnnotations]:
        """Read a batch, and start annotating its texts."""
        records = self.read(reader)
        self._journal_begin(records)
        return records, self._decider.annotate(records, parked=self._parked, executor=ahead)

    def _journal_begin(self, records: Sequence[UnsealedEvent]) -> None:
        """Record in the journal that a batch begins, since a record may crash the process."""
        if records:
            self._journal.begin(self._zone, self._chain, records[-1].source.number)

    def extract(
        self,
        records: Sequence[UnsealedEvent],
        ahead: Executor | None = None,
        pending: PendingAnnotations | None = None,
    ) -> list[Extracted]:
        """Extract from a batch (2)."""
        if pending is None:
            self._journal_begin(records)
        extracted = self._decider.extract(
            records, parked=self._parked, executor=ahead, pending=pending
        )
        failpoint("commit.extracted")
        return extracted

    def decide(
        self, records: Sequence[UnsealedEvent], extracted: Sequence[Extracted] | None
    ) -> int:
        """Resolve, append and commit a batch (3 to 7); return the number of accepted records.

        Zero means that another driver was faster, and nothing was changed. If `extracted` is None,
        there is a single record, which is parked or extracted here.
        """
        first, last = records[0].source.number, records[-1].source.number
        with self._files.locked():
            mark = self._files.watermark()
            failpoint("commit.locked")
            if mark.number != first - 1:
                return 0
            values: list[bytes] = []
            commands = 0
            previous = mark.hash
            for index, record in enumerate(records):
                decision, erases = self._decision(record, extracted[index] if extracted else None)
                if record.event is not None and not erases:
                    decision = with_dependencies(record.source.number, decision)
                self._decider.project(decision.parts)
                value, count = self._write(record, previous, decision, erases)
                values.append(value)
                commands += count
                previous = record_hash(value)
            failpoint("commit.projected")
            accepted = self._append(mark, values)
            if accepted is None:
                return 0
            failpoint("commit.accepted")
            self._erased |= {
                source.number for change in accepted for source in change.header.erased_events
            }
            if self._before_key_destruction is not None and accepted[0].header.erased_events:
                # An erasure is a batch of its own.
                self._before_key_destruction(first)
            destroy_keys(self._ledger, accepted)
            self._files.memory.record_decisions(map(decision_row, accepted))
            for model in self._files.decided:
                mark_erasure_purges(model, accepted)
                model.set_watermark(watermark_after(accepted[-1]))
            commit(self._files)
        empty_logs_after(self._files, accepted)
        self._journal.end(self._zone, self._chain, last)
        if commands or self._journal.outbox(self._zone, self._chain).number < mark.number:
            self.empty_outbox()
        else:
            self._save_outbox(accepted[-1])
        return len(records)

    @contextmanager
    def erasure_preview(self, targets: Sequence[int]) -> Iterator[None]:
        """Show the files as an erasure of these events would leave them; roll back at the end."""
        with self._files.locked():
            mark = self._files.watermark()
            record = UnsealedEvent(
                offset=mark.event_offset,
                hash=b"",
                source=Source(mark.number + 1, b""),
                kind="forget",
                occurred_at=0,
                key=None,
                event=None,
                problem=None,
            )
            decision, _ = self._erasure(record, targets)
            self._decider.project(decision.parts)
            yield

    def _erasure(
        self, record: UnsealedEvent, targets: Sequence[int]
    ) -> tuple[Decision, tuple[Source, ...]]:
        return erase(
            self._ledger,
            self._zone,
            self._chain,
            self._files,
            self._gateway,
            record,
            targets,
            self._agents,
        )

    def empty_outbox(self) -> None:
        """Publish the commands of accepted change records that the ledger lacks (step 7)."""
        if not self._publishes:
            return
        cursor = self._journal.outbox(self._zone, self._chain)
        upto = self._files.watermark().number
        reader = ChangeReader(
            self._ledger, self._zone, self._chain, cursor.number, cursor.offset, cursor.hash
        )
        while reader.number < upto and (changes := reader.read(1_000)):
            for change in changes:
                if change.header.command_count:
                    publish_commands(
                        self._ledger,
                        self._zone,
                        [
                            draft
                            for draft in open_outbox(self._ledger.keys, change)
                            # An older build published the commands that close turns on the
                            # messages' platform, where a client's event may have the same id. Drop
                            # them; the next tick publishes them again.
                            if draft.platform == RESERVED_PLATFORM
                        ],
                    )
                    failpoint("outbox.appended")
            self._save_outbox(changes[-1])

    def _save_outbox(self, change: AcceptedChange) -> None:
        self._journal.save_outbox(
            self._zone,
            self._chain,
            OutboxCursor(change.header.number, change.offset + 1, change.hash),
        )

    def _decide_one(self) -> int:
        """Decide the next record by itself, counting attempts, and park it after too many.

        An erasure is never parked: the zone stops with an error until it can be carried out.
        """
        records = self.read(self._event_reader(), 1)
        if not records:
            # The ledger was truncated, so the interrupted batch no longer exists.
            self._journal.end(self._zone, self._chain, sys.maxsize)
            return 0
        (record,) = records
        number = record.source.number
        for attempt in range(1, MAX_ATTEMPTS + 1):
            # The journal counts attempts during which the process crashed.
            crashes = self._journal.count_attempt(self._zone, self._chain, number)
            if crashes >= MAX_CRASHES and record.kind != "forget":
                self._parked[number] = f"the process died {crashes} times on this record"
                return self.decide(records, None)
            try:
                return self.decide(records, self.extract(records))
            except (KeyboardInterrupt, *_ENVIRONMENT):
                self._journal.uncount_attempt(self._zone, self._chain, number)
                raise
            except Exception as error:
                self._journal.uncount_attempt(self._zone, self._chain, number)
                if record.kind == "forget":
                    raise ErasureFailed(
                        f"the erasure requested by record {number} failed "
                        f"({type(error).__name__}: {error}); nothing after it is processed "
                        "until it succeeds: fix the cause and run recollect worker --once"
                    ) from error
                if number <= self._decided:
                    raise RebuildRegression(
                        f"record {number} ({record.kind}) was processed before and now fails "
                        f"({type(error).__name__}: {error}); the generation in use is unchanged: "
                        "fix the cause, or rebuild with the version of recollect that processed it"
                    ) from error
                if attempt == MAX_ATTEMPTS:
                    self._parked[number] = f"{type(error).__name__}: {error}"
        return self.decide(records, None)

    def _decision(
        self, record: UnsealedEvent, extracted: Extracted | None
    ) -> tuple[Decision, tuple[Source, ...]]:
        """Return the decision for a record, and the events that it erases."""
        if record.source.number in self._parked:
            if record.event is None and record.problem is None:
                return Decision([]), ()
            return self._decider.park(record, self._parked[record.source.number]), ()
        if record.event is not None and isinstance(record.event.payload, Forget):
            return self._erasure(record, record.event.payload.targets)
        if extracted is None or (self._erased & extracted.reads):
            extracted = self._decider.extract([record], self._erased)[0]
        return self._decider.resolve(record, extracted), ()

    def _write(
        self, record: UnsealedEvent, previous: bytes, decision: Decision, erases: tuple[Source, ...]
    ) -> tuple[bytes, int]:
        """Return the change record of a decision, and its number of commands."""
        record_source = record.source
        by_number = {record_source.number: record_source}
        others = {number for part in decision.parts for number in part.sources} - {
            record_source.number
        }
        by_number |= sources(self._files.events.connection, others)
        keys = self._ledger.keys.get(
            [
                source.key_id
                for number, source in by_number.items()
                if number != record_source.number
            ]
        )
        if record.key is not None:
            keys[record_source.key_id] = record.key
        command_count = sum(len(part.outbox) for part in decision.parts)
        header = ChangeHeader(
            format=CHANGE_FORMAT,
            chain=self._chain,
            zone=self._zone,
            number=record_source.number,
            event_hash=record.hash,
            event_offset=record.offset,
            previous=previous,
            is_parked=decision.parked,
            command_count=command_count,
            erased_events=erases,
        )
        parts = [
            (tuple(by_number[number] for number in part.sources), encode_part(part))
            for part in _joined(decision.parts)
        ]
        if not self._owner:
            keys |= self._ephemeral_keys({source for part, _ in parts for source in part}, keys)
        return write_change(header, parts, keys), command_count

    def _ephemeral_keys(
        self, sources: Set[Source], keys: Mapping[bytes, bytes]
    ) -> dict[bytes, bytes]:
        """Return throwaway keys for events that were erased since they were read here.

        Parts sealed with these keys cannot be read, just like parts that were written before the
        erasure. The erasure follows later in this chain and replaces these parts.

        Raises:
            IntegrityError: a key was lost, not erased.
        """
        missing = [source for source in sources if source.key_id not in keys]
        check_sources(self._ledger, self._zone, missing)
        return {source.key_id: new_key()[1] for source in missing}

    def _append(self, mark: Watermark, values: list[bytes]) -> list[AcceptedChange] | None:
        """Append change records (4), and return them as accepted.

        Return None if another driver's records were accepted first.
        """
        records = [record for value in values for record in split(value, MAX_FRAGMENT_BYTES)]
        self._ledger.append(CHANGES, self._zone, records)
        failpoint("commit.produced")
        reader = ChangeReader(
            self._ledger, self._zone, self._chain, mark.number, mark.offset, mark.hash
        )
        accepted: list[AcceptedChange] = []
        while len(accepted) < len(values) and (changes := reader.read(len(values))):
            accepted.extend(changes)
        if not accepted:
            raise IntegrityError(
                f"the change record just appended for event {mark.number + 1} of zone {self._zone} "
                "does not extend its chain, nor does any other in the topic; run recollect verify"
            )
        hashes = [record_hash(value) for value in values]
        if [change.hash for change in accepted] != hashes:
            return None
        return accepted


def _joined(parts: Sequence[DecidedPart]) -> Iterator[DecidedPart]:
    """Yield the parts of a decision, consecutive ones with the same sources joined into one.

    Each part is encoded and sealed by itself. A part's deletes come before its rows, so one with
    deletes begins another.
    """
    pending: list[DecidedPart] = []
    for part in parts:
        if pending and (part.deletes or part.sources != pending[0].sources):
            yield _concatenated(pending)
            pending = []
        pending.append(part)
    if pending:
        yield _concatenated(pending)


def _concatenated(parts: Sequence[DecidedPart]) -> DecidedPart:
    return DecidedPart(
        parts[0].sources,
        puts=[row for part in parts for row in part.puts],
        deletes=parts[0].deletes,
        outbox=[draft for part in parts for draft in part.outbox],
    )
