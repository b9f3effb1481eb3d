"""Moments: a zone's files as they were after one of its records, made by replay.

The last few stay in the zone's directory `past/` for the next question. They never hold what was
forgotten since: it is left out when they are made, and an erasure deletes the moments before it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation, ZoneDirectory, replace_file
from recollect.projections.private import delete_directory
from recollect.schemas.changes import READ_MODEL_ROWS
from recollect.schemas.errors import DeletionFailed
from recollect.streams.ledger import Ledger
from recollect.streams.projecting.projector import project_changes, project_events
from recollect.streams.reading.readers import AcceptedChange, ChangeReader, open_sections
from recollect.streams.reading.timeline import Erasure, Timeline
from recollect.streams.system.locks import exclusive

#: Moments that a zone keeps, and the bytes that all but the newest may take.
MAX_MOMENTS = 8
MAX_MOMENT_BYTES = 1 << 30

_MARK = "moment.json"
_BATCH = 2_000


class Moment(msgspec.Struct, frozen=True):
    """A state of a zone: after which record, on which chain, and erased how far.

    `erased` is the last command since then that erases events up to `number`; 0: none does.
    `decided`: the files in use have come that far, and to that erasure. `versions` are those
    of the files.
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


def moment_of(timeline: Timeline, generation: Generation, files: ZoneFiles, number: int) -> Moment:
    """Return the state after a record; `files` are those in use."""
    erased = max((erasure.number for erasure in timeline.erased_since(number)), default=0)
    return Moment(
        chain=generation.chain,
        number=number,
        erased=erased,
        decided=files.memory.watermark().number >= max(number, erased),
        versions=tuple(model.migrations.newest for model in files.all),
    )


def open_moment(
    ledger: Ledger,
    zone: str,
    directory: ZoneDirectory,
    generation: Generation,
    timeline: Timeline,
    wanted: Moment,
) -> ZoneFiles:
    """Open the files of a moment for reading; they are made where they are not there.

    Close them. The first question may come before they are closed, whatever is deleted meanwhile.
    """
    place = directory.path / "past" / wanted.name
    with exclusive(_lock(directory)):
        if _mark(place) != wanted:
            delete_directory(place)
            _make(ledger, zone, place, generation, timeline, wanted)
            _evict(place)
        else:
            os.utime(place / _MARK)
        files = ZoneFiles(place, generation.encoder, generation.dimension, readonly=True)
        # SQLite opens its files with the first query. Files that are open can be read when deleted.
        for model in files.all:
            model.watermark()
        return files


def remove_moments(directory: ZoneDirectory) -> None:
    """Delete every moment of a zone, waiting for whoever makes one.

    Raises:
        DeletionFailed: not all of them could be deleted.
    """
    with exclusive(_lock(directory)):
        delete_directory(directory.path / "past")


def moments_before(
    directory: ZoneDirectory, erasures: Mapping[int, Set[int]]
) -> list[tuple[str, int]]:
    """Return the moments (name, erasure) that were made before an erasure of what they hold.

    `erasures` are the numbers of those, and of the events that each ended.
    """
    found = []
    for place in sorted((directory.path / "past").glob("*")):
        if (moment := _mark(place)) is not None:
            later = [
                number
                for number, ended in erasures.items()
                if number > max(moment.number, moment.erased)
                and any(target <= moment.number for target in ended)
            ]
            if later:
                found.append((place.name, max(later)))
    return found


def _lock(directory: ZoneDirectory) -> Path:
    return directory.path / "past.lock"


def _mark(place: Path) -> Moment | None:
    """Return which moment a directory holds whole; None: what is there was never finished."""
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode((place / _MARK).read_bytes(), type=Moment)
    return None


def _make(
    ledger: Ledger,
    zone: str,
    place: Path,
    generation: Generation,
    timeline: Timeline,
    wanted: Moment,
) -> None:
    """Replay a zone up to a moment. The mark is written last, and only if all was decided."""
    erasures = timeline.erased_since(wanted.number)
    without = frozenset(target for erasure in erasures for target in erasure.targets)
    with ZoneFiles(place, generation.encoder, generation.dimension) as files:
        project_events(ledger, zone, files, upto=wanted.number, without=without)
        # Only the driver destroys keys, together with its commit of the files in use.
        project_changes(
            ledger,
            zone,
            generation.chain,
            files,
            upto=wanted.number,
            without=without,
            destroys=False,
        )
        reached = files.watermark().number
        if erasures and reached:
            _erase(ledger, zone, generation.chain, files, erasures, without)
    if reached == wanted.number:
        replace_file(place / _MARK, msgspec.json.encode(wanted))


def _erase(
    ledger: Ledger,
    zone: str,
    chain: str,
    files: ZoneFiles,
    erasures: Sequence[Erasure],
    without: frozenset[int],
) -> None:
    """Apply what later erasures decided of the records that the files hold.

    Their change records carry every row that is otherwise without the erased events, each with
    what it rests on: a row that rests on records up to here is as it was here. Nothing but an
    erasure deletes, so what is gone there was never here.
    """
    mark = files.watermark()
    reader = ChangeReader(ledger, zone, chain, mark.number, mark.offset, mark.hash)
    numbers = {erasure.number for erasure in erasures}
    while reader.number < max(numbers) and (changes := reader.read(_BATCH)):
        for change in changes:
            if change.header.number in numbers:
                kept = _resting_on(change, mark.number)
                sections = open_sections(ledger.keys, [kept], tuple(READ_MODEL_ROWS), without)
                with files.locked():
                    for model in files.decided:
                        model.project(sections[model.name])
                    for model in files.decided:
                        model.connection.execute("COMMIT")


def _resting_on(change: AcceptedChange, upto: int) -> AcceptedChange:
    """Return an erasure's change record with its deletes, and the rows of records up to `upto`."""
    own = change.header.number
    parts = tuple(
        part
        for part in change.record.parts
        if all(source.number <= upto or source.number == own for source in part.sources)
    )
    return change._replace(record=msgspec.structs.replace(change.record, parts=parts))


def _evict(newest: Path) -> None:
    """Delete the moments asked for longest ago, and those that cannot be asked for any more."""
    size = 0
    others = [entry for entry in newest.parent.iterdir() if entry != newest]
    for place, entry in enumerate(sorted(others, key=_asked_at, reverse=True), 1):
        size += sum(file.stat().st_size for file in entry.iterdir())
        of_chain = entry.name.startswith(newest.name.partition("-")[0] + "-")
        if place >= MAX_MOMENTS or size > MAX_MOMENT_BYTES or _mark(entry) is None or not of_chain:
            # An erasure says so, where it must.
            with suppress(DeletionFailed):
                delete_directory(entry)


def _asked_at(place: Path) -> float:
    with suppress(FileNotFoundError):
        return (place / _MARK).stat().st_mtime
    return 0.0
