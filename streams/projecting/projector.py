"""Project the topics into a zone's files; nothing here decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import MemoryModel
from recollect.projections.readmodel import ReadModel, Watermark
from recollect.projections.recall.index import array_store
from recollect.projections.recall.index.zone_index import prune_stored
from recollect.projections.sqlite import atomic
from recollect.schemas.ledger.records import FIRST_TRACED_FORMAT
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

# Large enough to amortise a transaction, small enough to show progress.
BATCH_SIZE = 5_000

#: Called with how many more records were projected.
OnProgress = Callable[[int], None]
#: Called with a zone and how many records were projected, or the error that stopped it.
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
    """Bring events.db up to the ledger's end, or to event `upto`; return how many were projected.

    Event numbers in `excluded` are treated as erased.
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
                # Another thread projected them.
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
            files.events.purge()
        projected += len(opened)
        if progress:
            progress(len(opened))
        if len(opened) + reader.void < limit:
            # That was the end of the ledger.
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
    """Bring the decided files up to the chain's end, or to the change of event `upto`.

    A decider does this first (rule 4 of docs/commit.md). Return how many records were projected.
    Each file resumes at its own watermark, so files that a crash left apart converge again. Event
    numbers in `excluded` are treated as erased. Keys of erased events are destroyed, unless
    `destroy_erased_keys` is False.
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
        purge_after(files, changes)
        projected += len(changes)
        if progress:
            progress(len(changes))


def _project(
    ledger: Ledger,
    marks: Sequence[tuple[ReadModel, Watermark]],
    changes: Sequence[AcceptedChange],
    excluded: Set[int],
) -> None:
    """Apply to each file the records beyond its watermark. Files with one watermark share the
    reading.
    """
    by_number: dict[int, list[ReadModel]] = {}
    for model, mark in marks:
        by_number.setdefault(mark.number, []).append(model)
    for number, models in by_number.items():
        fresh = [change for change in changes if change.header.number > number]
        if fresh:
            names = tuple(model.name for model in models)
            check_sources(
                ledger,
                fresh[0].header.zone,
                (
                    source
                    for change in fresh
                    for part in change.record.parts
                    for source in part.sources
                    if source.number not in excluded
                ),
            )
            sections = open_sections(ledger.keys, fresh, names, excluded)
            for model in models:
                model.project(sections[model.name])
                if isinstance(model, MemoryModel):
                    apart = len(by_number) > 1
                    model.record_decisions(
                        map(decision_row, _fully_unsealed(ledger, fresh) if apart else fresh)
                    )
                mark_erasure_purges(model, fresh)
                model.set_watermark(watermark_after(fresh[-1]))


def _fully_unsealed(ledger: Ledger, changes: Sequence[AcceptedChange]) -> Iterator[AcceptedChange]:
    """Yield the change records whose parts can all be unsealed.

    After a power cut memory.db may be behind the other files. These may hold rows of a part whose
    key is gone by now, which memory.db never sees. Its dependencies of that decision would be
    incomplete, so none are recorded: a later erasure then derives the zone in full.
    """
    for change in changes:
        needed = {source.key_id for part in change.record.parts for source in part.sources}
        if len(ledger.keys.get(list(needed))) == len(needed):
            yield change


def decision_row(change: AcceptedChange) -> tuple[int, int, bool]:
    """Return a change record's number, offset, and whether its decision's dependencies are
    recorded.
    """
    return change.header.number, change.offset, change.header.format >= FIRST_TRACED_FORMAT


def watermark_after(change: AcceptedChange) -> Watermark:
    """Return the watermark of a file that holds everything up to this change record."""
    return Watermark(
        number=change.header.number,
        offset=change.offset + 1,
        hash=change.hash,
        event_offset=change.header.event_offset + 1,
        event_hash=change.header.event_hash,
    )


def commit(files: ZoneFiles) -> None:
    """Commit the decided files, one after the other, inside `files.locked()`."""
    for model in files.decided:
        model.connection.execute("COMMIT")
        failpoint(f"commit.{model.name}")


def destroy_keys(ledger: Ledger, changes: Sequence[AcceptedChange]) -> None:
    """Destroy the keys of erased events, before a watermark passes their change records.

    After a crash in between, the watermark is still behind, and this is done again.
    """
    ended = [source.key_id for change in changes for source in change.header.erased_events]
    if ended:
        ledger.keys.destroy(ended)
        failpoint("commit.keys_destroyed")


def mark_erasure_purges(model: ReadModel, changes: Sequence[AcceptedChange]) -> None:
    """Mark a purge of erased rows as pending, in the transaction that deletes them."""
    if any(change.header.erased_events for change in changes):
        model.mark_purge_pending()


def purge_after(files: ZoneFiles, changes: Sequence[AcceptedChange]) -> None:
    """Remove all traces of what accepted change records erased."""
    if any(change.header.erased_events for change in changes):
        purge(files)
        failpoint("commit.purged")


def purge(files: ZoneFiles) -> bool:
    """Remove all traces of deleted rows from every file; False if a reader prevents it."""
    prune_index(files)
    # Every file is purged, even if one before it could not be.
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
    # A process without a lock file reads the files later, when the rows are gone.
    if not lock.exists():
        yield False
        return
    with exclusive(lock):
        yield True
