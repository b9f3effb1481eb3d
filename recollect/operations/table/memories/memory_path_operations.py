"""Operations on stored memories by their virtual paths."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.stored import memory_paths
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.memories.stored_memory_operations import stored_memory
from recollect.operations.table.operation import LONG_TEXT, Tool, operation
from recollect.operations.table.parameters import Cursor, Limit, described
from recollect.schemas.wire import PathPage, StoredMemory

_ENTRY = {
    "path": "/memory/by-user/ada/people/ada/drink",
    "is_directory": False,
    "memory_id": "01KR3XZBC0BAQNHSCT9EJ4NDPT",
    "memory_type": "preference",
    "created_at": "2026-05-08T13:56:00.000Z",
}
_FOLDER = {
    "path": "/memory/by-user/ada/people/",
    "is_directory": True,
    "memory_id": None,
    "memory_type": None,
    "created_at": None,
}
_LENGTH = {"minLength": 1, "maxLength": memory_paths.MAX_PATH, "pattern": "^/"}


@operation(
    "GET /paths",
    right="read",
    title="List a directory of memories",
    tag="memories",
    tool=Tool(
        title="List a directory of stored memories",
        description="List what is in a virtual directory of stored memories: / has objs, memory "
        "(by-user, by-agent) and workspace. A directory's path ends with a slash. "
        f"{DATA_WARNING}",
        defaults={"limit": 50},
    ),
    example=(None, {"entries": [_FOLDER, _ENTRY], "cursor": None}),
)
def list_paths(
    zone: OpenZone,
    path: Annotated[
        str, described(**_LENGTH, description="A directory, such as /memory/by-user/ada/.")
    ] = "/",
    *,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> PathPage:
    """Return what is in a virtual directory: the directories by name, then the newest memories.

    The files are the current versions of active memories. A directory that contains none does not
    exist.

    Raises:
        InvalidInput: a value is invalid; the message names it.

    >>> from recollect.schemas.wire import MemoryInput
    >>> _ = zone.store_memories([MemoryInput(
    ...     content="Ada prefers tea.", user_id="ada", namespace="/people", path_key="drink")])
    >>> [entry.path for entry in zone.list_paths("/memory/by-user/ada")]
    ['/memory/by-user/ada/people/']
    >>> [entry.path for entry in zone.list_paths("/workspace/ada/memory/people")]
    ['/workspace/ada/memory/people/drink']
    """
    return memory_paths.listing(zone, path, cursor=cursor, limit=limit)


@operation(
    "GET /paths/glob",
    right="read",
    title="Find memories by a path pattern",
    tag="memories",
    tool=Tool(
        title="Find stored memories by a path pattern",
        description="Find stored memories whose virtual paths match a pattern, newest first: * "
        "and ? stand for characters of a name, ** for any directories. "
        f"{DATA_WARNING}",
        defaults={"limit": 50},
    ),
    example=(None, {"entries": [_ENTRY], "cursor": None}),
)
def glob_paths(
    zone: OpenZone,
    pattern: Annotated[
        str,
        described(
            **_LENGTH, description="A path with *, ? and **, such as /memory/by-user/*/**/drink."
        ),
    ],
    *,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> PathPage:
    """Return the memories whose virtual paths match a pattern, newest first.

    `*` stands for any characters of a name, `?` for one, `**` for any number of directories. A
    memory with several such paths is returned once.

    Raises:
        InvalidInput: a value is invalid; the message names it.

    >>> from recollect.schemas.wire import MemoryInput
    >>> _ = zone.store_memories([MemoryInput(
    ...     content="Ada prefers tea.", user_id="ada", namespace="/people", path_key="drink")])
    >>> [entry.path for entry in zone.glob_paths("/memory/by-user/*/**/dr*")]
    ['/memory/by-user/ada/people/drink']
    """
    return memory_paths.glob(zone, pattern, cursor=cursor, limit=limit)


@operation(
    "GET /paths/read",
    right="read",
    title="Read the memory at a path",
    tag="memories",
    tool=Tool(
        title="Read the stored memory at a path",
        description="Read one stored memory by its virtual path, such as "
        f"/memory/by-user/ada/people/drink. {DATA_WARNING}",
        max_text_length=LONG_TEXT,
        quotes_memories=True,
    ),
    example=(None, (stored_memory.example or (None, None))[1]),
)
def read_path(
    zone: OpenZone,
    path: Annotated[str, described(**_LENGTH, description="The path of a memory.")],
) -> StoredMemory:
    """Return the memory at a virtual path; if there are several, the newest.

    Below `/objs/memory`, the version with this id is returned, in whatever state it is.

    Raises:
        UnknownId: no memory is at this path.
        InvalidInput: it is not a path.

    >>> from recollect.schemas.wire import MemoryInput
    >>> _ = zone.store_memories([MemoryInput(
    ...     content="Ada prefers tea.", user_id="ada", namespace="/people", path_key="drink")])
    >>> zone.read_path("/workspace/ada/memory/people/drink").content
    'Ada prefers tea.'
    """
    return memory_paths.read(zone, path)


class MemoryPathOperations:
    """Stored memories of a zone by their virtual paths."""

    list_paths = list_paths
    glob_paths = glob_paths
    read_path = read_path
