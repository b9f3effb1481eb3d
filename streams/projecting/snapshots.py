"""Snapshots: a zone's files as of one of its records, made by replay.

The most recently used snapshots are kept in the zone's directory `past/`. They never hold events
that were forgotten later: a replay leaves those out, and an erasure deletes older snapshots.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path

import msgspec

from recollect.projections.file_permissions import delete_directory
from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation, ZoneDirectory, replace_file
from recollect.schemas.changes import READ_MODEL_ROWS
from recollect.schemas.errors import DeletionFailed
from recollect.streams.ledger import Ledger
from recollect.streams.projecting.projector import project_changes, project_events
from recollect.streams.records.chain_readers import AcceptedChange, ChangeReader, open_sections
from recollect.streams.records.timeline import Erasure, Timeline
from recollect.streams.system.locks import exclusive

#: The maximum number of snapshots of a zone, and the maximum size of all but the newest, in bytes.
MAX_SNAPSHOTS = 8
MAX_SNAPSHOT_BYTES = 1 << 30

_MARK_FILE = "moment.json"
_BATCH_SIZE = 2_000


class Snapshot(msgspec.Struct, frozen=True):
    """The state of a zone as of record `number` of a chain, without the events erased since.

    `erased`: the record number of the latest erasure that affects events 1 to `number`, or 0.
    `decided`: whether the live files had applied the records `number` and `erased`. `versions`: the
    schema version of each file.
    """

    chain: str
    number: int
    erased: int
    decided: bool
    versions: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of its directory."""
        return f"{self.chain}-{self.number}"


def snapshot_of(
    timeline: Timeline, generation: Generation, files: ZoneFiles, number: int
) -> Snapshot:
    """Describe the snapshot as of a record; `files` are the zone's files in use."""
    erased = max((erasure.number for erasure in timeline.erased_since(number)), default=0)
    return Snapshot(
        chain=generation.chain,
        number=number,
        erased=erased,
        decided=files.memory.watermark().number >= max(number, erased),
        versions=tuple(model.migrations.newest for model in files.all),
    )


def open_snapshot(
    ledger: Ledger,
    zone: str,
    directory: ZoneDirectory,
    generation: Generation,
    timeline: Timeline,
    snapshot: Snapshot,
) -> ZoneFiles:
    """Open the files of a snapshot for reading; replay the zone into them if they do not exist.

    The caller must close the files, and can read them until then even if they are deleted.
    """
    snapshot_dir = directory.path / "past" / snapshot.name
    with exclusive(_lock(directory)):
        if _read_mark(snapshot_dir) != snapshot:
            delete_directory(snapshot_dir)
            _replay(ledger, zone, snapshot_dir, generation, timeline, snapshot)
            _evict(snapshot_dir)
        else:
            os.utime(snapshot_dir / _MARK_FILE)
        files = ZoneFiles(snapshot_dir, generation.encoder, generation.dimension, readonly=True)
        # SQLite opens a file at the first query; an open file stays readable after its deletion.
        for model in files.all:
            model.watermark()
        return files


def remove_snapshots(directory: ZoneDirectory) -> None:
    """Delete every snapshot of a zone; wait first for a process that is creating one.

    Raises:
        DeletionFailed: a snapshot could not be deleted.
    """
    with exclusive(_lock(directory)):
        delete_directory(directory.path / "past")


def snapshots_before(
    directory: ZoneDirectory, erasures: Mapping[int, Set[int]]
) -> list[tuple[str, int]]:
    """Return (name, erasure) for each snapshot with events that a later erasure erased.

    `erasures` maps the number of each erasure to the events that it erased.
    """
    outdated = []
    for snapshot_dir in sorted((directory.path / "past").glob("*")):
        if (snapshot := _read_mark(snapshot_dir)) is not None:
            later = [
                number
                for number, targets in erasures.items()
                if number > max(snapshot.number, snapshot.erased)
                and any(target <= snapshot.number for target in targets)
            ]
            if later:
                outdated.append((snapshot_dir.name, max(later)))
    return outdated


def _lock(directory: ZoneDirectory) -> Path:
    return directory.path / "past.lock"


def _read_mark(snapshot_dir: Path) -> Snapshot | None:
    """Return the snapshot in a directory, or None if it was never completed."""
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode((snapshot_dir / _MARK_FILE).read_bytes(), type=Snapshot)
    return None


def _replay(
    ledger: Ledger,
    zone: str,
    snapshot_dir: Path,
    generation: Generation,
    timeline: Timeline,
    snapshot: Snapshot,
) -> None:
    """Replay a zone up to a snapshot's record.

    The mark file is written last, and only if every record up to there is decided.
    """
    erasures = timeline.erased_since(snapshot.number)
    excluded = frozenset(target for erasure in erasures for target in erasure.targets)
    with ZoneFiles(snapshot_dir, generation.encoder, generation.dimension) as files:
        project_events(ledger, zone, files, upto=snapshot.number, excluded=excluded)
        # Only the driver destroys keys, together with its commit of the files in use.
        project_changes(
            ledger,
            zone,
            generation.chain,
            files,
            upto=snapshot.number,
            excluded=excluded,
            destroy_erased_keys=False,
        )
        reached = files.watermark().number
        if erasures and reached:
            _erase(ledger, zone, generation.chain, files, erasures, excluded)
    if reached == snapshot.number:
        replace_file(snapshot_dir / _MARK_FILE, msgspec.json.encode(snapshot))


def _erase(
    ledger: Ledger,
    zone: str,
    chain: str,
    files: ZoneFiles,
    erasures: Sequence[Erasure],
    excluded: frozenset[int],
) -> None:
    """Apply later erasures to the records that the files hold.

    The change record of an erasure contains every row whose value changes once the erased events
    are left out, with its sources. If no source comes after the snapshot's record, the row already
    had this value at that record. Only erasures delete rows, so a row that they delete must not be
    in the snapshot either.
    """
    mark = files.watermark()
    reader = ChangeReader(ledger, zone, chain, mark.number, mark.offset, mark.hash)
    numbers = {erasure.number for erasure in erasures}
    while reader.number < max(numbers) and (changes := reader.read(_BATCH_SIZE)):
        for change in changes:
            if change.header.number in numbers:
                kept = _only_sources_up_to(change, mark.number)
                sections = open_sections(ledger.keys, [kept], tuple(READ_MODEL_ROWS), excluded)
                with files.locked():
                    for model in files.decided:
                        model.project(sections[model.name])
                    for model in files.decided:
                        model.connection.execute("COMMIT")


def _only_sources_up_to(change: AcceptedChange, upto: int) -> AcceptedChange:
    """Restrict an erasure's change record to its deletes, and to rows with sources up to `upto`."""
    erasure = change.header.number
    parts = tuple(
        part
        for part in change.record.parts
        if all(source.number <= upto or source.number == erasure for source in part.sources)
    )
    return change._replace(record=msgspec.structs.replace(change.record, parts=parts))


def _evict(newest: Path) -> None:
    """Delete the least recently used snapshots, and those of other chains."""
    size = 0
    others = [entry for entry in newest.parent.iterdir() if entry != newest]
    for rank, entry in enumerate(sorted(others, key=_last_used, reverse=True), 1):
        size += sum(file.stat().st_size for file in entry.iterdir())
        same_chain = entry.name.startswith(newest.name.partition("-")[0] + "-")
        if (
            rank >= MAX_SNAPSHOTS
            or size > MAX_SNAPSHOT_BYTES
            or _read_mark(entry) is None
            or not same_chain
        ):
            # A failure does no harm here: an erasure that must delete it reports the failure.
            with suppress(DeletionFailed):
                delete_directory(entry)


def _last_used(snapshot_dir: Path) -> float:
    with suppress(FileNotFoundError):
        return (snapshot_dir / _MARK_FILE).stat().st_mtime
    return 0.0
