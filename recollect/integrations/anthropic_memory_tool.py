"""Anthropic's memory tool over a zone (extra `anthropic`): the files that Claude keeps."""

from __future__ import annotations

import asyncio
from typing import Any

from recollect import RecollectError, Zone, needed
from recollect.integrations.kept_items import KeptItems, NewItem

with needed("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
    from anthropic.types.beta import (
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

_ROOT = "/memories"
_MAX_LINES = 999_999
_WIDTH = len(str(_MAX_LINES))
# Folders below the one that is viewed that are shown.
_DEPTH = 2
# A folder is shown with the size that a folder has on most disks.
_FOLDER_SIZE = 4096
# Characters of a path in an error.
_SHOWN = 200

_Parts = tuple[str, ...]


class RecollectMemoryTool(BetaAbstractMemoryTool):
    """The memory tool of Anthropic's SDK whose files stand in a zone.

    Each file is an event; an edit is a new version, recall finds the newest alone, and deleting a
    file erases all its versions for good. Folders are there as long as a file is in them. Results
    and errors are those of the SDK's own tool on a disk.
    """

    def __init__(self, zone: Zone, *, platform: str = "anthropic-memory", **options: Any) -> None:
        super().__init__(**options)
        self._kept = KeptItems(zone, platform)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the lines of a file, or what a folder holds."""
        parts = _parts(command.path)
        files = self._files()
        if parts in files:
            return _shown(command, files[parts])
        if parts and not _inside(files, parts):
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        lines = [f"{_size(_FOLDER_SIZE)}\t{command.path}"]
        lines += [
            f"{_size(size)}\t{command.path}/{name}" for size, name in _listed(files, parts, "", 1)
        ]
        return "\n".join(
            [
                f"Here're the files and directories up to 2 levels deep in {command.path}, "
                "excluding hidden items:",
                *lines,
            ]
        )

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        parts = _parts(command.path)
        with self._kept.lock:
            files = self._files()
            if not parts or parts in files or _inside(files, parts):
                raise ToolError(f"File {command.path} already exists")
            _check_folders(files, parts, command.path)
            self._write(parts, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Put one text in the place of another that stands once in a file."""
        with self._kept.lock:
            parts, text = self._file(command.path)
            places = _places(text, command.old_str)
            if not places:
                raise ToolError(
                    f"No replacement was performed, old_str `{command.old_str}` did not appear "
                    f"verbatim in {command.path}."
                )
            if len(places) > 1:
                lines = ", ".join(str(text[:place].count("\n") + 1) for place in places)
                raise ToolError(
                    "No replacement was performed. Multiple occurrences of old_str "
                    f"`{command.old_str}` in lines: {lines}. Please ensure it is unique"
                )
            changed = text.replace(command.old_str, command.new_str)
            self._write(parts, changed)
        lines_now = changed.split("\n")
        line = text[: places[0]].count("\n")
        first, end = max(0, line - 2), min(len(lines_now), line + 3)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            "(with line numbers):\n" + _numbered(lines_now[first:end], first + 1)
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put lines after a line of a file; 0: before the first."""
        with self._kept.lock:
            parts, text = self._file(command.path)
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            changed = "\n".join(lines)
            self._write(parts, changed if changed.endswith("\n") else f"{changed}\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a folder with all in it, for good."""
        parts = _parts(command.path)
        if not parts:
            raise ToolError("Cannot delete the /memories directory itself")
        with self._kept.lock:
            files = self._files()
            gone = [parts] if parts in files else _inside(files, parts)
            if not gone:
                raise ToolError(f"The path {command.path} does not exist")
            self._kept.forget_under(*gone)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder with all in it; what is moved is written anew."""
        old, new = _parts(command.old_path), _parts(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        with self._kept.lock:
            files = self._files()
            if not new or new in files or _inside(files, new):
                raise ToolError(f"The destination {command.new_path} already exists")
            moved = [old] if old in files else _inside(files, old)
            if not moved:
                raise ToolError(f"The path {command.old_path} does not exist")
            _check_folders(files, new, command.new_path)
            if new[: len(old)] == old:
                raise ToolError(f"{command.old_path} cannot be moved into itself")
            # Written first: what is killed in between leaves both, and loses neither.
            for path in moved:
                self._write((*new, *path[len(old) :]), files[path])
            self._kept.forget_under(*moved)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Erase every file for good."""
        with self._kept.lock:
            if files := self._files():
                self._kept.forget_under(*files)
        return "All memory cleared"

    def _files(self) -> dict[_Parts, str]:
        """Return path -> text of every file, as it is now."""
        files: dict[_Parts, str] = {}
        for item in self._kept.newest_first():
            files.setdefault(item.path, item.value["text"])
        # In the order in which they were written last.
        return dict(reversed(files.items()))

    def _file(self, path: str) -> tuple[_Parts, str]:
        parts = _parts(path)
        kept = self._kept.newest(parts) if parts else None
        if kept is not None:
            return parts, kept.value["text"]
        if not parts or _inside(self._files(), parts):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _write(self, parts: _Parts, text: str) -> None:
        before = self._kept.newest(parts)
        value: dict[str, Any] = {"text": text}
        fields: dict[str, Any] = {"direction": "out"}
        if before is not None:
            value["first"] = before.value.get("first") or before.source_id
            fields |= {"kind": "edit", "target": value["first"]}
        try:
            self._kept.add([NewItem(parts, value, text, "claude", fields)])
        except RecollectError as error:
            path = "/".join((_ROOT, *parts))
            raise ToolError(f"The file {path[:_SHOWN]} cannot be written: {error}") from error


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """`RecollectMemoryTool` for the asynchronous client; each command runs in a thread."""

    def __init__(self, zone: Zone, *, platform: str = "anthropic-memory", **options: Any) -> None:
        super().__init__(**options)
        self._tool = RecollectMemoryTool(zone, platform=platform)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the lines of a file, or what a folder holds."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Make a file."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Put one text in the place of another that stands once in a file."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Put lines after a line of a file; 0: before the first."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a folder with all in it, for good."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder with all in it; what is moved is written anew."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Erase every file for good."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _parts(path: str) -> _Parts:
    """Return the names that a path consists of, below /memories.

    Raises:
        ToolError: it leads elsewhere.
    """
    if not path.startswith(_ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    found: list[str] = []
    for name in path[len(_ROOT) :].split("/"):
        if name == "..":
            if not found:
                raise ToolError(f"Path {path} would escape /memories directory")
            found.pop()
        elif name not in ("", "."):
            found.append(name)
    return tuple(found)


def _inside(files: dict[_Parts, str], folder: _Parts) -> list[_Parts]:
    return [path for path in files if len(path) > len(folder) and path[: len(folder)] == folder]


def _check_folders(files: dict[_Parts, str], parts: _Parts, path: str) -> None:
    for end in range(1, len(parts)):
        if parts[:end] in files:
            raise ToolError(f"{path} cannot be: {_ROOT}/{'/'.join(parts[:end])} is a file")


def _listed(
    files: dict[_Parts, str], folder: _Parts, above: str, depth: int
) -> list[tuple[int, str]]:
    """Return size and name of what a folder holds, in order, but for what is hidden."""
    found: list[tuple[int, str]] = []
    for name in sorted({path[len(folder)] for path in _inside(files, folder)}):
        if name.startswith("."):
            continue
        path = (*folder, name)
        if path in files:
            found.append((len(files[path].encode()), above + name))
            continue
        found.append((_FOLDER_SIZE, f"{above}{name}/"))
        if depth < _DEPTH:
            found += _listed(files, path, f"{above}{name}/", depth + 1)
    return found


def _shown(command: BetaMemoryTool20250818ViewCommand, text: str) -> str:
    lines = text.split("\n")
    if len(lines) > _MAX_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    first = 0
    if command.view_range and len(command.view_range) == 2:
        first = max(1, command.view_range[0]) - 1
        last = command.view_range[1]
        lines = lines[first : len(lines) if last == -1 else last]
    return f"Here's the content of {command.path} with line numbers:\n" + _numbered(
        lines, first + 1
    )


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(
        f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)
    )


def _places(text: str, wanted: str) -> list[int]:
    """Return where a text stands, also where it overlaps itself, if it stands there twice."""
    if text.count(wanted) <= 1:
        return [place] if (place := text.find(wanted)) >= 0 else []
    found, place = [], text.find(wanted)
    while place >= 0:
        found.append(place)
        place = text.find(wanted, place + 1)
    return found


def _size(size: int) -> str:
    """Return a size in bytes, K, M or G, with one decimal where it is not whole."""
    unit = min((size.bit_length() - 1) // 10, 3) if size else 0
    scaled = size / 1024**unit
    shown = str(int(scaled)) if scaled == int(scaled) else f"{scaled:.1f}"
    return f"{shown}{'BKMG'[unit]}"
