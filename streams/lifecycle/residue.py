"""Residue: rows of erased events that are left in a zone's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import closing
from pathlib import Path

import apsw

from recollect.projections.events.event_queries import event_numbers
from recollect.projections.generations import ZoneDirectory
from recollect.projections.sqlite import connect
from recollect.streams.projecting.snapshots import snapshots_before

# Scratch directories in a generation contain directories of files.
_MAX_DEPTH = 3

#: The number of an erasure -> the numbers of its erased events.
Erasures = Mapping[int, Set[int]]


def find_residue(
    directory: ZoneDirectory, erasures: Erasures, *, used: str, scratch: Path
) -> list[str]:
    """Return a problem for each file with rows of erased events, and each snapshot older than an
    erasure.

    The generation `used` is skipped: its files are compared row by row elsewhere.
    """
    erased = {number for numbers in erasures.values() for number in numbers}
    if not erased:
        return []
    problems = []
    for path in sorted(_events_files(directory.path)):
        relative = path.parent.relative_to(directory.path)
        if str(relative) == used or scratch in path.parents:
            continue
        try:
            leftover = sorted(erased & _numbers(path))
        except apsw.Error as error:
            problems.append(f"{relative}/events.db: {error}; it is unused: delete {relative}")
            continue
        if leftover:
            listed = ", ".join(map(str, leftover[:5])) + (" and more" if len(leftover) > 5 else "")
            problems.append(
                f"{relative}/events.db holds erased rows (event {listed}); delete {relative}"
            )
    for name, number in snapshots_before(directory, erasures):
        problems.append(
            f"past/{name} is older than erasure {number}, and may hold erased rows; delete it"
        )
    return problems


def _events_files(directory: Path) -> Iterator[Path]:
    """Yield every events.db of a zone, following links: of generations, snapshots and scratch."""
    for depth in range(1, _MAX_DEPTH + 1):
        yield from directory.glob("*/" * depth + "events.db")


def _numbers(path: Path) -> set[int]:
    with closing(connect(path, readonly=True)) as connection:
        return event_numbers(connection)
