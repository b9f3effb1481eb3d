"""Stored memories by their virtual paths: lists of directories, patterns, and single paths.

The files are the current versions of active memories that the caller may read. So a directory in
which the caller may read nothing does not exist for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.memories.page_cursors import check_limit
from recollect.operations.memories.stored import virtual_paths
from recollect.operations.memories.stored.stored_memories import parse_cursor, stored_memory
from recollect.operations.memories.stored.virtual_paths import ANY_DEPTH, OBJECTS, Names, Pattern
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.listing.stored_memory_list import (
    MemoryFile,
    MemoryFilter,
    MemoryPlace,
    memory_files,
    memory_places,
)
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.times import format_time
from recollect.schemas.wire import PathEntry, PathPage, StoredMemory

#: Maximum length of a path, in characters.
MAX_PATH = 8_192
#: The memories that are read in one transaction.
_PAGE = 500


def read(zone: OpenZone, path: str) -> StoredMemory:
    """Return the newest memory at a path; below /objs/memory, the version with this id.

    Raises:
        UnknownId: there is nothing at the path.
        InvalidInput: it is not a path.
    """
    names = virtual_paths.parse(_checked(path))
    zone.must_exist()
    if names[:-1] == OBJECTS:
        id_: str | None = names[-1]
    else:
        with zone.files() as files, files.read_transaction():
            # The last name is a file's, never an owner's.
            chosen = _chosen(zone, names[:-1], name=names[-1] if names else "")
            homes = [
                place
                for place in memory_places(files.memory.connection, chosen)
                if names[:-1] in virtual_paths.directories(zone.name, place)
            ]
            files_ = _files(files, chosen, homes, None)
            id_ = next((file.id for file in files_), None)
    try:
        if id_ is not None:
            return stored_memory(zone, id_)
    except UnknownId:
        pass
    raise UnknownId(f"zone {zone.name} has no memory at the path {path[:200]!r}")


def glob(zone: OpenZone, pattern: str, *, cursor: str | None, limit: int) -> PathPage:
    """Return a page of the memories whose paths match a pattern, newest first.

    Raises:
        InvalidInput: a value is invalid; the message names it.
    """
    check_limit(limit)
    wanted = Pattern(_checked(pattern))
    after = None if cursor is None else parse_cursor(cursor)
    if not zone.exists():
        return PathPage(entries=[])
    entries: list[PathEntry] = []
    last: MemoryFile | None = None
    with zone.files() as files, files.read_transaction():
        chosen, homes = _homes(zone, files, wanted)
        for path, file in _matching(files, chosen, homes, wanted, after):
            if last is not None and len(entries) == limit:
                return PathPage(entries=entries, cursor=_cursor(last))
            entries.append(_entry(path, file))
            last = file
    return PathPage(entries=entries)


def below(zone: OpenZone, path: str) -> Iterator[tuple[str, str]]:
    """Yield (path, id) of all memories below a directory, newest first.

    They are read a page at a time, so memories that are stored meanwhile do not occur.

    Raises:
        UnknownId: there are none.
    """
    names = virtual_paths.parse(_checked(path))
    zone.must_exist()
    wanted = Pattern(f"{virtual_paths.text_of(names)}/{ANY_DEPTH}")
    with zone.files() as files, files.read_transaction():
        chosen, homes = _homes(zone, files, wanted)
    after = None
    while True:
        with zone.files() as files, files.read_transaction():
            page = [*islice(_matching(files, chosen, homes, wanted, after), _PAGE)]
        yield from ((virtual_paths.text_of(names), file.id) for names, file in page)
        if len(page) < _PAGE:
            break
        _, last = page[-1]
        after = last.created_at, last.number
    if after is None and not page:
        raise UnknownId(f"zone {zone.name} has no memory below {path[:200]!r}")


def _homes(
    zone: OpenZone, files: ZoneFiles, wanted: Pattern
) -> tuple[MemoryFilter, dict[MemoryPlace, list[Names]]]:
    """Return a filter of memories, and place -> its directories that a pattern may match in."""
    chosen = _chosen(zone, wanted.literal)
    homes = {
        place: directories
        for place in memory_places(files.memory.connection, chosen)
        if (directories := [*filter(wanted.matches_in, _directories(zone, place))])
    }
    return chosen, homes


def _matching(
    files: ZoneFiles,
    chosen: MemoryFilter,
    homes: Mapping[MemoryPlace, Sequence[Names]],
    wanted: Pattern,
    after: tuple[int, int] | None,
) -> Iterator[tuple[Names, MemoryFile]]:
    """Yield the memories that match a pattern, newest first, each with its preferred path."""
    for file in _files(files, chosen, [*homes], after):
        paths = (_path(directory, file) for directory in homes[file.place])
        path = next(filter(wanted.matches, paths), None)
        if path is not None:
            yield path, file


def listing(zone: OpenZone, path: str, *, cursor: str | None, limit: int) -> PathPage:
    """Return a page of what is in a directory: the directories by name, then the newest memories.

    Raises:
        InvalidInput: a value is invalid; the message names it.
    """
    check_limit(limit)
    names = virtual_paths.parse(_checked(path))
    after_name = virtual_paths.parse(cursor)[-1:] if cursor and cursor.startswith("/") else ()
    after = None if cursor is None or after_name else parse_cursor(cursor)
    if not zone.exists():
        return PathPage(entries=[])
    with zone.files() as files, files.read_transaction():
        chosen = _chosen(zone, names)
        homes: dict[MemoryPlace, None] = {}
        children: set[str] = set()
        for place in memory_places(files.memory.connection, chosen):
            for directory in _directories(zone, place):
                if directory == names:
                    homes[place] = None
                elif directory[: len(names)] == names:
                    children.add(directory[len(names)])
        shown = (
            [] if after is not None else sorted(name for name in children if (name,) > after_name)
        )
        entries = [_directory((*names, name)) for name in shown[:limit]]
        if len(shown) > limit:
            return PathPage(entries=entries, cursor=entries[-1].path)
        last = entries[-1].path if entries else cursor
        for file in _files(files, chosen, [*homes], after):
            if len(entries) == limit:
                return PathPage(entries=entries, cursor=last)
            entries.append(_entry(_path(names, file), file))
            last = _cursor(file)
    return PathPage(entries=entries)


def _checked(path: str) -> str:
    if not path.startswith("/"):
        raise InvalidInput(f"path {path[:60]!r}: give one that begins with a slash")
    if len(path) > MAX_PATH:
        raise InvalidInput(f"path has {len(path)} characters; give at most {MAX_PATH}")
    return path


def _chosen(zone: OpenZone, names: Sequence[str], name: str | None = None) -> MemoryFilter:
    """Return the filter of the memories that can be below a directory."""
    owners = virtual_paths.owners_of(zone.name, names)
    return MemoryFilter(
        state="active",
        superseded=False,
        invalid_by=unix_ms(),
        name=name,
        **owners._asdict(),
    )


def _directories(zone: OpenZone, place: MemoryPlace) -> Iterator[Names]:
    yield from virtual_paths.directories(zone.name, place)
    yield OBJECTS


def _files(
    files: ZoneFiles,
    chosen: MemoryFilter,
    homes: Sequence[MemoryPlace],
    after: tuple[int, int] | None,
) -> Iterator[MemoryFile]:
    """Yield the memories in some places, newest first."""
    if not homes:
        return
    known = frozenset(homes)
    chosen = msgspec.structs.replace(chosen, places=homes)
    for file in memory_files(files.memory.connection, chosen, after):
        if file.place in known:
            yield file


def _path(directory: Names, file: MemoryFile) -> Names:
    return (*directory, file.id if directory == OBJECTS else file.name)


def _entry(names: Names, file: MemoryFile) -> PathEntry:
    return PathEntry(
        path=virtual_paths.text_of(names),
        memory_id=file.id,
        memory_type=file.memory_type,
        created_at=format_time(file.created_at),
    )


def _directory(names: Names) -> PathEntry:
    return PathEntry(path=virtual_paths.text_of(names, is_directory=True), is_directory=True)


def _cursor(file: MemoryFile) -> str:
    return f"{file.created_at}:{file.number}"
