"""Project the topics into a zone's files; nothing here decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import MemoryModel
from recollect.projections.readmodel import ReadModel, Watermark
from recollect.projections.recall.index.arrays import array_store
from recollect.projections.recall.index.zone_index import prune_stored
from recollect.projections.sqlite import atomic, truncate_wal
from recollect.schemas.ledger.records import FIRST_FORMAT_WITH_DEPENDENCIES
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import (
    AcceptedChange,
    ChangeReader,
    EventReader,
    open_sections,
)
from recollect.streams.records.erased_keys import check_sources
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive

# Large enough to amortise a transaction, small enough for frequent progress reports.
BATCH_SIZE = 5_000

#: Called with the number of records projected since the last call.
OnProgress = Callable[[int], None]
#: Called with a zone and the number of records projected, or the error that stopped the zone.
OnZoneProgress = Callable[[str, int | Exception], None]


def project_events(
    ledger: Ledger,
    zone: str,
    files: ZoneFiles,
    *,
    upto: int | None = None,
    excluded: Set[int] = frozenset(),
    progress: OnProgress | None = None,
) -> int:
    """Bring events.db up to the ledger's end, or to event `upto`.

    Return the number of projected events. Event numbers in `excluded` are treated as erased.
    """
    projected = 0
    while True:
        mark = files.events.watermark()
        reader = EventReader(ledger, zone, mark.number, mark.offset, mark.hash)
        limit = BATCH_SIZE if upto is None else min(BATCH_SIZE, upto - mark.number)
        opened = reader.read(limit, excluded) if limit > 0 else []
        if not opened:
            return projected
        with atomic(files.events.connection):
            if files.events.watermark() != mark:
                # Another thread has projected these events meanwhile.
                continue
            erased = files.events.project_events(
                [item.event for item in opened if item.event is not None],
                [(item.source.number, item.source.key_id) for item in opened],
            )
            if erased:
                files.events.mark_purge_pending()
            last = opened[-1]
            files.events.set_watermark(Watermark(last.source.number, last.offset + 1, last.hash))
        if erased:
            prune_index(files)
            truncate_wal(files.events.connection)
        projected += len(opened)
        if progress:
            progress(len(opened))
        if len(opened) + reader.void < limit:
            # The end of the ledger is reached.
            return projected


def project_changes(
    ledger: Ledger,
    zone: str,
    chain: str,
    files: ZoneFiles,
    *,
    upto: int | None = None,
    excluded: Set[int] = frozenset(),
    destroy_erased_keys: bool = True,
    progress: OnProgress | None = None,
) -> int:
    """Bring the three files of decisions up to the chain's end, or to the change of event `upto`.

    A decider must do this before it decides (rule 4 of docs/commit.md). Return the number of
    records projected.
    Each file resumes at its own watermark, so files with different watermarks after a crash
    converge again. Event numbers in `excluded` are treated as erased. Keys of erased events are
    destroyed, unless `destroy_erased_keys` is False.
    """
    projected = 0
    while True:
        with files.locked():
            marks = [(model, model.watermark()) for model in files.decided]
            lowest = min((mark for _, mark in marks), key=lambda mark: mark.number)
            reader = ChangeReader(ledger, zone, chain, lowest.number, lowest.offset, lowest.hash)
            limit = BATCH_SIZE if upto is None else min(BATCH_SIZE, upto - lowest.number)
            changes = reader.read(limit) if limit > 0 else []
            if not changes:
                return projected
            _project(ledger, marks, changes, excluded)
            if destroy_erased_keys:
                destroy_keys(ledger, changes)
            commit(files)
        empty_logs_after(files, changes)
        projected += len(changes)
        if progress:
            progress(len(changes))


def _project(
    ledger: Ledger,
    marks: Sequence[tuple[ReadModel, Watermark]],
    changes: Sequence[AcceptedChange],
    excluded: Set[int],
) -> None:
    """Apply to each file the records after its watermark.

    The records are unsealed once for all files that have the same watermark.
    """
    by_number: dict[int, list[ReadModel]] = {}
    for model, mark in marks:
        by_number.setdefault(mark.number, []).append(model)
    for number, models in by_number.items():
        pending = [change for change in changes if change.header.number > number]
        if pending:
            names = tuple(model.name for model in models)
            check_sources(
                ledger,
                pending[0].header.zone,
                (
                    source
                    for change in pending
                    for part in change.record.parts
                    for source in part.sources
                    if source.number not in excluded
                ),
            )
            sections = open_sections(ledger.keys, pending, names, excluded)
            for model in models:
                model.project(sections[model.name])
                if isinstance(model, MemoryModel):
                    diverged = len(by_number) > 1
                    complete = _fully_unsealed(ledger, pending) if diverged else pending
                    model.record_decisions(map(decision_row, complete))
                mark_erasure_purges(model, pending)
                model.set_watermark(watermark_after(pending[-1]))


def _fully_unsealed(ledger: Ledger, changes: Sequence[AcceptedChange]) -> Iterator[AcceptedChange]:
    """Yield the change records whose parts can all be unsealed.

    After a power cut memory.db may be behind the other files. These may hold rows of a part whose
    key has been destroyed since, and memory.db never sees that part. The dependencies of its
    decision would be incomplete, so none are recorded, and a later erasure derives the whole zone.
    """
    for change in changes:
        needed = {source.key_id for part in change.record.parts for source in part.sources}
        if len(ledger.keys.get(list(needed))) == len(needed):
            yield change


def decision_row(change: AcceptedChange) -> tuple[int, int, bool]:
    """Return (number, offset, whether the dependencies are recorded) of a change record."""
    return (
        change.header.number,
        change.offset,
        change.header.format >= FIRST_FORMAT_WITH_DEPENDENCIES,
    )


def watermark_after(change: AcceptedChange) -> Watermark:
    """Return the watermark of a file that has applied everything up to this change record."""
    return Watermark(
        number=change.header.number,
        offset=change.offset + 1,
        hash=change.hash,
        event_offset=change.header.event_offset + 1,
        event_hash=change.header.event_hash,
    )


def commit(files: ZoneFiles) -> None:
    """Commit the files of decisions, one after the other, inside `files.locked()`."""
    for model in files.decided:
        model.connection.execute("COMMIT")
        failpoint(f"commit.{model.name}")


def destroy_keys(ledger: Ledger, changes: Sequence[AcceptedChange]) -> None:
    """Destroy the keys of erased events, before a watermark passes their change records.

    After a crash in between, the watermark is still behind, so the keys are destroyed again.
    """
    erased = [source.key_id for change in changes for source in change.header.erased_events]
    if erased:
        ledger.keys.destroy(erased)
        failpoint("commit.keys_destroyed")


def mark_erasure_purges(model: ReadModel, changes: Sequence[AcceptedChange]) -> None:
    """Mark a purge of erased rows as pending, in the transaction that deletes them."""
    if any(change.header.erased_events for change in changes):
        model.mark_purge_pending()


def empty_logs_after(files: ZoneFiles, changes: Sequence[AcceptedChange]) -> None:
    """Empty the index and the WALs of erased rows, if accepted change records erased anything.

    The purge that is pending then does the rest, once for any number of erasures.
    """
    if any(change.header.erased_events for change in changes):
        prune_index(files)
        for model in files.all:
            truncate_wal(model.connection)
        failpoint("commit.purged")


def purge(files: ZoneFiles) -> bool:
    """Remove all traces of deleted rows from every file; return False if a reader prevents it."""
    prune_index(files)
    # Every file is purged, even if an earlier one could not be.
    purged = [model.purge() for model in files.all]
    return all(purged)


def prune_index(files: ZoneFiles) -> None:
    """Remove erased rows from the recall index."""
    with _index_lock(files) as exists:
        if exists:
            prune_stored(files)


def drop_index(files: ZoneFiles) -> None:
    """Remove the recall index; the next query rebuilds it."""
    with _index_lock(files) as exists:
        if exists:
            array_store.remove(files.directory)


@contextmanager
def _index_lock(files: ZoneFiles) -> Iterator[bool]:
    """Hold the lock of the recall index; yield False if there is no index."""
    lock = files.directory / array_store.LOCK
    # A process that creates the index later reads the files without the erased rows.
    if not lock.exists():
        yield False
        return
    with exclusive(lock):
        yield True
