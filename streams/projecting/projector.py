"""Projecting a zone's files from what the topics hold; nothing here decides."""

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
from recollect.streams.reading.erased_keys import check_sources
from recollect.streams.reading.readers import (
    AcceptedChange,
    ChangeReader,
    EventReader,
    open_sections,
)
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive

# Large enough that a transaction costs nothing per record, small enough to show progress.
BATCH = 5_000

Progress = Callable[[int], None]


def project_events(
    ledger: Ledger,
    zone: str,
    files: ZoneFiles,
    *,
    upto: int | None = None,
    without: Set[int] = frozenset(),
    progress: Progress | None = None,
) -> int:
    """Bring events.db up to the ledger's end, or to event `upto`; return how many it took.

    Numbers in `without` are taken for erased.
    """
    taken = 0
    while True:
        mark = files.events.watermark()
        reader = EventReader(ledger, zone, mark.number, mark.offset, mark.hash)
        limit = BATCH if upto is None else min(BATCH, upto - mark.number)
        opened = reader.read(limit, without) if limit > 0 else []
        if not opened:
            return taken
        with atomic(files.events.connection):
            if files.events.watermark() != mark:
                # Another thread took them.
                continue
            erased = files.events.project_events(
                [item.event for item in opened if item.event is not None],
                [(item.source.number, item.source.key_id) for item in opened],
            )
            if erased:
                files.events.owe_purge()
            last = opened[-1]
            files.events.advance(Watermark(last.source.number, last.offset + 1, last.hash))
        if erased:
            prune_index(files)
            files.events.purge()
        taken += len(opened)
        if progress:
            progress(len(opened))
        if len(opened) + reader.void < limit:
            # The ledger had no more.
            return taken


def project_changes(
    ledger: Ledger,
    zone: str,
    chain: str,
    files: ZoneFiles,
    *,
    upto: int | None = None,
    without: Set[int] = frozenset(),
    destroys: bool = True,
    progress: Progress | None = None,
) -> int:
    """Bring the decided files up to the chain's end, or to the change of event `upto`.

    Whoever decides does this first (rule 4 of docs/commit.md). Return how many records it took.
    Each file goes on from its own watermark, so files that a crash left apart meet again. Numbers
    in `without` are taken for erased. Keys that an erasure ends are destroyed, unless `destroys`
    is False.
    """
    taken = 0
    while True:
        with files.locked():
            marks = [(model, model.watermark()) for model in files.decided]
            lowest = min((mark for _, mark in marks), key=lambda mark: mark.number)
            reader = ChangeReader(ledger, zone, chain, lowest.number, lowest.offset, lowest.hash)
            limit = BATCH if upto is None else min(BATCH, upto - lowest.number)
            changes = reader.read(limit) if limit > 0 else []
            if not changes:
                return taken
            _project(ledger, marks, changes, without)
            if destroys:
                destroy_keys(ledger, changes)
            commit(files)
        purge_after(files, changes)
        taken += len(changes)
        if progress:
            progress(len(changes))


def _project(
    ledger: Ledger,
    marks: Sequence[tuple[ReadModel, Watermark]],
    changes: Sequence[AcceptedChange],
    without: Set[int],
) -> None:
    """Apply to each file the records beyond its watermark. Files at one watermark share a read."""
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
                    if source.number not in without
                ),
            )
            sections = open_sections(ledger.keys, fresh, names, without)
            for model in models:
                model.project(sections[model.name])
                if isinstance(model, MemoryModel):
                    apart = len(by_number) > 1
                    model.note_decisions(
                        map(decision_row, _readable(ledger, fresh) if apart else fresh)
                    )
                note_erasures(model, fresh)
                model.advance(watermark_after(fresh[-1]))


def _readable(ledger: Ledger, changes: Sequence[AcceptedChange]) -> Iterator[AcceptedChange]:
    """Yield the change records of which every part can be opened.

    memory.db may have fallen behind the other files, after a power cut. They may then hold rows of
    a part whose key is gone by now, which memory.db never sees. Its notes on that decision would
    be incomplete, so none is made: a later erasure then derives the zone in full.
    """
    for change in changes:
        needed = {source.key_id for part in change.record.parts for source in part.sources}
        if len(ledger.keys.get(list(needed))) == len(needed):
            yield change


def decision_row(change: AcceptedChange) -> tuple[int, int, bool]:
    """Return the number of a change record, its offset, and whether its decision is traced."""
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
    """Destroy the keys that accepted change records end, before their watermark moves past them.

    After a crash in between, the watermark is still behind, and this happens again.
    """
    ended = [source.key_id for change in changes for source in change.header.erased_events]
    if ended:
        ledger.keys.destroy(ended)
        failpoint("commit.keys_destroyed")


def note_erasures(model: ReadModel, changes: Sequence[AcceptedChange]) -> None:
    """Note that traces of erased rows are to be removed, in the transaction that deletes them."""
    if any(change.header.erased_events for change in changes):
        model.owe_purge()


def purge_after(files: ZoneFiles, changes: Sequence[AcceptedChange]) -> None:
    """Remove all traces of what accepted change records erased."""
    if any(change.header.erased_events for change in changes):
        purge(files)
        failpoint("commit.purged")


def purge(files: ZoneFiles) -> bool:
    """Remove all traces of deleted rows from every file; False if a reader prevents it."""
    prune_index(files)
    # Every file is purged, whether or not one before it could be.
    purged = [model.purge() for model in files.all]
    return all(purged)


def prune_index(files: ZoneFiles) -> None:
    """Take what was erased out of the index that recall keeps of the files."""
    with _index_held(files) as lies:
        if lies:
            prune_stored(files)


def drop_index(files: ZoneFiles) -> None:
    """Remove the index that recall keeps of the files; the next question makes another."""
    with _index_held(files) as lies:
        if lies:
            array_store.remove(files.directory)


@contextmanager
def _index_held(files: ZoneFiles) -> Iterator[bool]:
    """Hold the lock of the index, where there is one; False where there is none."""
    lock = files.directory / array_store.LOCK
    # A process that has no lock file yet reads the files later, without what is gone.
    if not lock.exists():
        yield False
        return
    with exclusive(lock):
        yield True
