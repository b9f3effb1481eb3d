"""Anthropic's memory tool over a zone (extra `anthropic`): the files that Claude stores."""

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
# How many levels of folders are shown below the viewed folder.
_DEPTH = 2
# The size shown for a folder; it is the same on most disks.
_FOLDER_SIZE = 4096
# Maximum characters of a path in an error.
_MAX_SHOWN = 200

_Parts = tuple[str, ...]


class RecollectMemoryTool(BetaAbstractMemoryTool):
    """The memory tool of Anthropic's SDK with its files stored in a zone.

    Each file is an event. An edit is a new version, recall finds only the newest, and deleting a
    file erases all its versions for good. A folder exists as long as it contains a file. Results
    and errors are the same as those of the SDK's own tool, which stores its files on a disk.
    """

    def __init__(self, zone: Zone, *, platform: str = "anthropic-memory", **options: Any) -> None:
        super().__init__(**options)
        self._stored_items = KeptItems(zone, platform)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the lines of a file, or the list of a folder."""
        parts = _parts(command.path)
        files = self._files()
        if parts in files:
            return _file_view(command, files[parts])
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
        """Create a file."""
        parts = _parts(command.path)
        with self._stored_items.lock:
            files = self._files()
            if not parts or parts in files or _inside(files, parts):
                raise ToolError(f"File {command.path} already exists")
            _check_folders(files, parts, command.path)
            self._write(parts, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        with self._stored_items.lock:
            parts, text = self._file(command.path)
            offsets = _offsets(text, command.old_str)
            if not offsets:
                raise ToolError(
                    f"No replacement was performed, old_str `{command.old_str}` did not appear "
                    f"verbatim in {command.path}."
                )
            if len(offsets) > 1:
                lines = ", ".join(str(text[:offset].count("\n") + 1) for offset in offsets)
                raise ToolError(
                    "No replacement was performed. Multiple occurrences of old_str "
                    f"`{command.old_str}` in lines: {lines}. Please ensure it is unique"
                )
            changed = text.replace(command.old_str, command.new_str)
            self._write(parts, changed)
        lines_now = changed.split("\n")
        line = text[: offsets[0]].count("\n")
        first, end = max(0, line - 2), min(len(lines_now), line + 3)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            "(with line numbers):\n" + _numbered(lines_now[first:end], first + 1)
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line of a file; 0: before the first."""
        with self._stored_items.lock:
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
        """Erase a file, or a folder with its content, for good."""
        parts = _parts(command.path)
        if not parts:
            raise ToolError("Cannot delete the /memories directory itself")
        with self._stored_items.lock:
            files = self._files()
            deleted = [parts] if parts in files else _inside(files, parts)
            if not deleted:
                raise ToolError(f"The path {command.path} does not exist")
            self._stored_items.forget_under(*deleted)
        return f"Successfully deleted {command.path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder with its content, by writing the files anew."""
        old, new = _parts(command.old_path), _parts(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        with self._stored_items.lock:
            files = self._files()
            if not new or new in files or _inside(files, new):
                raise ToolError(f"The destination {command.new_path} already exists")
            moved = [old] if old in files else _inside(files, old)
            if not moved:
                raise ToolError(f"The path {command.old_path} does not exist")
            _check_folders(files, new, command.new_path)
            if new[: len(old)] == old:
                raise ToolError(f"{command.old_path} cannot be moved into itself")
            # Write before erasing, so that a crash in between loses nothing.
            for path in moved:
                self._write((*new, *path[len(old) :]), files[path])
            self._stored_items.forget_under(*moved)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        """Erase every file for good."""
        with self._stored_items.lock:
            if files := self._files():
                self._stored_items.forget_under(*files)
        return "All memory cleared"

    def _files(self) -> dict[_Parts, str]:
        """Return path -> current text of every file."""
        files: dict[_Parts, str] = {}
        for item in self._stored_items.newest_first():
            files.setdefault(item.path, item.value["text"])
        # In the order of their last writes.
        return dict(reversed(files.items()))

    def _file(self, path: str) -> tuple[_Parts, str]:
        parts = _parts(path)
        file = self._stored_items.newest(parts) if parts else None
        if file is not None:
            return parts, file.value["text"]
        if not parts or _inside(self._files(), parts):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _write(self, parts: _Parts, text: str) -> None:
        before = self._stored_items.newest(parts)
        value: dict[str, Any] = {"text": text}
        fields: dict[str, Any] = {"direction": "out"}
        if before is not None:
            value["first"] = before.value.get("first") or before.source_id
            fields |= {"kind": "edit", "target": value["first"]}
        try:
            self._stored_items.add([NewItem(parts, value, text, "claude", fields)])
        except RecollectError as error:
            path = "/".join((_ROOT, *parts))
            raise ToolError(f"The file {path[:_MAX_SHOWN]} cannot be written: {error}") from error


class AsyncRecollectMemoryTool(BetaAsyncAbstractMemoryTool):
    """`RecollectMemoryTool` for the asynchronous client; each command runs in a thread."""

    def __init__(self, zone: Zone, *, platform: str = "anthropic-memory", **options: Any) -> None:
        super().__init__(**options)
        self._tool = RecollectMemoryTool(zone, platform=platform)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Return the lines of a file, or the list of a folder."""
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file."""
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines after a line of a file; 0: before the first."""
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a folder with its content, for good."""
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file, or a folder with its content, by writing the files anew."""
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        """Erase every file for good."""
        return await asyncio.to_thread(self._tool.clear_all_memory)


def _parts(path: str) -> _Parts:
    """Return the names in a path below /memories.

    Raises:
        ToolError: the path is outside /memories.
    """
    if not path.startswith(_ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    names: list[str] = []
    for name in path[len(_ROOT) :].split("/"):
        if name == "..":
            if not names:
                raise ToolError(f"Path {path} would escape /memories directory")
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return tuple(names)


def _inside(files: dict[_Parts, str], folder: _Parts) -> list[_Parts]:
    return [path for path in files if len(path) > len(folder) and path[: len(folder)] == folder]


def _check_folders(files: dict[_Parts, str], parts: _Parts, path: str) -> None:
    for end in range(1, len(parts)):
        if parts[:end] in files:
            raise ToolError(f"{path} cannot exist: {_ROOT}/{'/'.join(parts[:end])} is a file")


def _listed(
    files: dict[_Parts, str], folder: _Parts, above: str, depth: int
) -> list[tuple[int, str]]:
    """Return (size, name) of the visible content of a folder, sorted by name."""
    entries: list[tuple[int, str]] = []
    for name in sorted({path[len(folder)] for path in _inside(files, folder)}):
        if name.startswith("."):
            continue
        path = (*folder, name)
        if path in files:
            entries.append((len(files[path].encode()), above + name))
            continue
        entries.append((_FOLDER_SIZE, f"{above}{name}/"))
        if depth < _DEPTH:
            entries += _listed(files, path, f"{above}{name}/", depth + 1)
    return entries


def _file_view(command: BetaMemoryTool20250818ViewCommand, text: str) -> str:
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


def _offsets(text: str, part: str) -> list[int]:
    """Return the offsets of all occurrences of a part in a text, overlapping ones included."""
    if text.count(part) <= 1:
        return [offset] if (offset := text.find(part)) >= 0 else []
    found, offset = [], text.find(part)
    while offset >= 0:
        found.append(offset)
        offset = text.find(part, offset + 1)
    return found


def _size(size: int) -> str:
    """Return a size in bytes, K, M or G, with one decimal unless it is a whole number."""
    unit = min((size.bit_length() - 1) // 10, 3) if size else 0
    scaled = size / 1024**unit
    number = str(int(scaled)) if scaled == int(scaled) else f"{scaled:.1f}"
    return f"{number}{'BKMG'[unit]}"
