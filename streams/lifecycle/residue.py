"""Residue: rows of erased events that any file of a zone still has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import closing
from pathlib import Path

import apsw

from recollect.projections.events.event_queries import numbers_of
from recollect.projections.generations import ZoneDirectory
from recollect.projections.sqlite import connect
from recollect.streams.projecting.snapshots import snapshots_before

# A generation's own scratch holds directories of files.
_DEEPEST = 3

#: The number of an erasure, and of the events that it ended.
Erasures = Mapping[int, Set[int]]


def residue(directory: ZoneDirectory, erasures: Erasures, *, used: str, scratch: Path) -> list[str]:
    """Return where turns of erased events are left, or files that were made before they went.

    The files of the generation `used` are compared row by row, and not looked at here.
    """
    erased = {number for numbers in erasures.values() for number in numbers}
    if not erased:
        return []
    problems = []
    for path in sorted(_files(directory.path)):
        place = path.parent.relative_to(directory.path)
        if str(place) == used or scratch in path.parents:
            continue
        try:
            left = sorted(erased & _numbers(path))
        except apsw.Error as error:
            problems.append(f"{place}/events.db: {error}; nothing uses it: delete {place}")
            continue
        if left:
            what = ", ".join(map(str, left[:5])) + (" and more" if len(left) > 5 else "")
            problems.append(
                f"{place}/events.db holds what was erased (event {what}); delete {place}"
            )
    for name, number in snapshots_before(directory, erasures):
        problems.append(
            f"past/{name} was made before erasure {number}, and may hold what that took; delete it"
        )
    return problems


def _files(directory: Path) -> Iterator[Path]:
    """Yield every events.db of a zone, links followed: of generations, moments and scratch."""
    for depth in range(1, _DEEPEST + 1):
        yield from directory.glob("*/" * depth + "events.db")


def _numbers(path: Path) -> set[int]:
    with closing(connect(path, readonly=True)) as connection:
        return numbers_of(connection)
