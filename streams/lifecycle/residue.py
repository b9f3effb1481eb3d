"""Residue: traces of erased events in files, as rows or as bytes of keys."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Set
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

from recollect.projections.events.event_queries import event_numbers
from recollect.projections.generations import ZoneDirectory
from recollect.projections.sqlite import connect, raw_file
from recollect.streams.projecting.snapshots import snapshots_before

# Scratch directories in a generation contain directories of files.
_MAX_DEPTH = 3

_CHUNK = 1 << 24

#: The number of an erasure -> the numbers of its erased events.
Erasures = Mapping[int, Set[int]]


def find_residue(
    directory: ZoneDirectory, erasures: Erasures, *, used: str, scratch: Path
) -> list[str]:
    """Return a problem for each file with erased rows, and for each snapshot before an erasure.

    The generation `used` is skipped, because its files are compared row by row elsewhere.
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


class KeyScan(NamedTuple):
    """A scan of files for the bytes of keys: how much was read, and which files contain a key."""

    files: int
    bytes: int
    found: list[Path]


def scan_for_keys(directory: Path, keys: Collection[bytes]) -> KeyScan:
    """Search every file below a directory for the bytes of keys; links are not followed."""
    files = size = 0
    hits = []
    unique_keys = frozenset(keys)
    for parent, _, names in os.walk(directory):
        for name in names:
            path = Path(parent, name)
            # Another process may delete a file meanwhile; a socket or a pipe holds nothing. The
            # shared memory of a WAL holds numbers of pages, and locks of this process.
            if path.is_symlink() or not path.is_file() or name.endswith("-shm"):
                continue
            try:
                read, has_key = _scan(path, unique_keys)
            except (FileNotFoundError, apsw.CantOpenError):
                if path.exists():
                    raise
                continue
            files, size = files + 1, size + read
            if has_key:
                hits.append(path)
    return KeyScan(files, size, hits)


def _scan(path: Path, keys: frozenset[bytes]) -> tuple[int, bool]:
    """Return the size of a file, and whether it contains one of the keys."""
    length = max(map(len, keys), default=1)
    size, tail = 0, b""
    has_key = False
    for chunk in _chunks(path):
        size += len(chunk)
        data = tail + chunk
        has_key = has_key or any(data[at : at + length] in keys for at in _candidates(data, keys))
        tail = data[-(length - 1) :] if length > 1 else b""
    return size, has_key


def _chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file."""
    if path.suffix != ".db":
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        return
    with raw_file(str(path)) as database:
        end = database.xFileSize()
        for start in range(0, end, _CHUNK):
            yield database.xRead(min(_CHUNK, end - start), start)


def _candidates(data: bytes, keys: frozenset[bytes]) -> Iterator[int]:
    """Yield the offsets at which the first two bytes of a key occur."""
    first = np.zeros(1 << 16, bool)
    first[[int.from_bytes(key[:2], "little") for key in keys]] = True
    for shift in (0, 1):
        pairs = np.frombuffer(data, "<u2", max(len(data) - shift, 0) // 2, shift)
        yield from (np.flatnonzero(first[pairs]) * 2 + shift).tolist()


def _events_files(directory: Path) -> Iterator[Path]:
    """Yield every events.db of a zone, following links: of generations, snapshots and scratch."""
    for depth in range(1, _MAX_DEPTH + 1):
        yield from directory.glob("*/" * depth + "events.db")


def _numbers(path: Path) -> set[int]:
    with closing(connect(path, readonly=True)) as connection:
        return event_numbers(connection)
