"""The memory tool over a zone answers as the SDK's own tool on a disk, on the same commands."""

from __future__ import annotations

import asyncio
import inspect
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Recollect
from recollect.integrations.anthropic_memory_tool import (
    AsyncRecollectMemoryTool,
    RecollectMemoryTool,
)
from tests.remote.kit import client
from tests.service.kit import served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("anthropic") / "home", encoder="none") as r:
        yield r


def told(tool: Any, command: dict[str, Any]) -> str:
    """Return what a tool answers, or its error; a folder's own size is the disk's affair."""
    try:
        answer = str(tool.call(command))
    except ToolError as error:
        answer = f"error: {error}"
    if "up to 2 levels deep" in answer:
        answer = re.sub(r"^\S+(?=\t.*(?:/|memories|notes|deep|kept)$)", "*", answer, flags=re.M)
    return answer


PATHS = st.sampled_from(
    [
        *("/memories/a.txt", "/memories/notes/b.txt", "/memories/notes/deep/c.txt"),
        *("/memories/notes/../a.txt", "/memories/../etc/passwd", "/elsewhere/x"),
        *("/memories/.hidden", "/memories/notes/été 😀.txt"),
    ]
)
FOLDERS = st.sampled_from(["/memories", "/memories/notes"])
TEXTS = st.sampled_from(["", "one\ntwo\nthree", "one\none\n", "x" * 1500, "two", "a\r\nb\n"])
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries({"command": st.just("view"), "path": st.one_of(PATHS, FOLDERS)}),
    st.fixed_dictionaries(
        {
            "command": st.just("view"),
            "path": PATHS,
            "view_range": st.sampled_from([[1, 2], [2, -1], [0, 1], [9, 12]]),
        }
    ),
    st.fixed_dictionaries(
        {
            "command": st.just("str_replace"),
            "path": st.one_of(PATHS, FOLDERS.filter(lambda path: path == "/memories")),
            "old_str": st.sampled_from(["one", "two", "none of it"]),
            "new_str": TEXTS,
        }
    ),
    st.fixed_dictionaries(
        {
            "command": st.just("insert"),
            "path": PATHS,
            "insert_line": st.integers(-1, 4),
            "insert_text": st.sampled_from(["new", "new\n", "two\nlines\n"]),
        }
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)
NUMBERS = iter(range(10**6))


@given(st.lists(COMMANDS, min_size=1, max_size=9))
@settings(max_examples=12)
def test_any_commands_are_answered_as_by_the_tool_on_a_disk(
    home: Recollect, commands: list[dict[str, Any]]
) -> None:
    """Folders that are empty again are gone here, and stay on a disk: there we remove them."""
    ours = RecollectMemoryTool(home.zone("files"), platform=f"p{next(NUMBERS)}")
    with tempfile.TemporaryDirectory() as place:
        theirs = BetaLocalFilesystemMemoryTool(place)
        for command in [*commands, {"command": "view", "path": "/memories"}]:
            assert told(ours, command) == told(theirs, command), command
            emptied(Path(place) / "memories")


def emptied(root: Path) -> None:
    for folder in sorted(root.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def test_a_folder_is_moved_and_deleted_with_all_in_it(home: Recollect, tmp_path: Path) -> None:
    zone = home.zone("folders")
    ours, theirs = RecollectMemoryTool(zone), BetaLocalFilesystemMemoryTool(str(tmp_path))
    for command in (
        {"command": "create", "path": "/memories/notes/deep/a", "file_text": "violin"},
        {"command": "create", "path": "/memories/notes/b", "file_text": "boat"},
        {"command": "create", "path": "/memories/notes", "file_text": "no"},
        {"command": "rename", "old_path": "/memories/notes", "new_path": "/memories/kept/notes"},
        {"command": "view", "path": "/memories/kept"},
        {"command": "view", "path": "/memories/kept/notes/deep/a"},
        {"command": "delete", "path": "/memories/kept/notes"},
        {"command": "delete", "path": "/memories"},
        {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
        {"command": "view", "path": "/memories/kept/notes/b"},
    ):
        assert told(ours, command) == told(theirs, command), command
    assert zone.list_memories("events").memories == [], "what is deleted is forgotten"


def test_recall_finds_the_newest_version_alone(home: Recollect) -> None:
    zone = home.zone("versions")
    tool = RecollectMemoryTool(zone)
    path = "/memories/food.txt"
    tool.call({"command": "create", "path": path, "file_text": "Likes pepperoni pizza."})
    change = {"old_str": "pepperoni pizza", "new_str": "mushroom risotto"}
    tool.call({"command": "str_replace", "path": path, **change})
    texts = [result.text for result in zone.recall("pepperoni pizza risotto").results]
    assert texts == ["Likes mushroom risotto."]
    assert list(zone.facts()) == []
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


def test_a_tool_over_a_service(tmp_path: Path) -> None:
    with served(tmp_path / "home") as service, client(service) as r:
        tool = RecollectMemoryTool(r.zone("ada"))
        assert "up to 2 levels deep" in told(tool, {"command": "view", "path": "/memories"})
        tool.call({"command": "create", "path": "/memories/a", "file_text": "one"})
        assert told(tool, {"command": "view", "path": "/memories/a"}).endswith("     1\tone")
        assert tool.clear_all_memory() == "All memory cleared"
        assert "/a" not in told(tool, {"command": "view", "path": "/memories"})


@pytest.mark.parametrize(
    "command",
    [
        {"command": "create", "path": "/memories/new", "file_text": "a b\n" * 300_000},
        {"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "x" * 2**20},
        {
            "command": "insert",
            "path": "/memories/a",
            "insert_line": 0,
            "insert_text": "y" * 2**20,
        },
        {"command": "create", "path": "/memories/" + "deep/" * 400 + "b", "file_text": "two"},
    ],
    ids=["create", "str_replace", "insert", "path"],
)
def test_what_cannot_be_kept_is_an_error_of_the_tool(
    home: Recollect, command: dict[str, Any]
) -> None:
    """Fault 12."""
    zone = home.zone(f"large-{abs(hash(str(command)[:90])) % 10**6}")
    for tool in (RecollectMemoryTool(zone), AsyncRecollectMemoryTool(zone)):
        if isinstance(tool, RecollectMemoryTool):
            tool.call({"command": "create", "path": "/memories/a", "file_text": "one"})
        with pytest.raises(ToolError, match="cannot be written"):
            awaited(tool.call(command))
        # What was there stays.
        kept = RecollectMemoryTool(zone).call({"command": "view", "path": "/memories/a"})
        assert str(kept).endswith("     1\tone")


def awaited(answer: Any) -> Any:
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


def test_the_asynchronous_tool_does_the_same(home: Recollect) -> None:
    tool = AsyncRecollectMemoryTool(home.zone("async"))

    async def asked(command: dict[str, Any]) -> str:
        try:
            return str(await tool.call(command))
        except ToolError as refused:
            return f"refused: {refused}"

    async def everything() -> list[str]:
        path = "/memories/food"
        commands: list[dict[str, Any]] = [
            {"command": "create", "path": path, "file_text": "tea\n"},
            {"command": "str_replace", "path": path, "old_str": "tea", "new_str": "rice"},
            {"command": "insert", "path": path, "insert_line": 1, "insert_text": "beans"},
            {"command": "rename", "old_path": path, "new_path": "/memories/lunch"},
            {"command": "view", "path": "/memories/lunch"},
            {"command": "delete", "path": "/memories/lunch"},
            {"command": "view", "path": "/memories/lunch"},
        ]
        return [*[await asked(command) for command in commands], str(await tool.clear_all_memory())]

    *_, seen, deleted, gone, cleared = asyncio.run(everything())
    assert seen.endswith("     1\trice\n     2\tbeans\n     3\t")
    assert deleted == "Successfully deleted /memories/lunch"
    assert gone.startswith("refused: ")
    assert cleared == "All memory cleared"
