"""The import formats, and how an input is split into exports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.text_sanitising import pluralise
from recollect.schemas.wire import Rejection, Skipped
from recollect.streams.adapters import exported_zone, jsonl
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportSource,
    HistoricalSource,
    LocalisedSource,
    RefusedExport,
)
from recollect.streams.adapters.assistants import (
    aider,
    chatgpt,
    claude_ai,
    claude_code,
    codex,
    cursor,
    gemini,
    gemini_cli,
    grok,
    opencode,
)
from recollect.streams.adapters.calendars import icalendar
from recollect.streams.adapters.chats import (
    discord,
    irc,
    matrix,
    skype,
    slack,
    teams,
    telegram,
    whatsapp,
)
from recollect.streams.adapters.chats.google import google_chat, hangouts
from recollect.streams.adapters.chats.phone import imessage, sms_backup
from recollect.streams.adapters.chats.signal import signal_chats
from recollect.streams.adapters.chats.social import instagram, linkedin, twitter
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Directory, Folder, all_folders, open_archive
from recollect.streams.adapters.input.input_files import (
    STANDARD_INPUT,
    ByteCounter,
    DamagedInput,
    InputEntry,
    InputFile,
    SpooledInput,
)
from recollect.streams.adapters.lookalikes import advice, lookalike
from recollect.streams.adapters.mail import maildir, mails, mbox
from recollect.streams.adapters.memories import (
    graph_edges,
    hindsight_bank_export,
    letta_memory,
    mcp_memory_graph,
    mem0_export,
)
from recollect.streams.adapters.notes import evernote, google_keep, notes

#: The exports of other memory systems.
MEMORY_ADAPTERS: tuple[Adapter, ...] = (
    mem0_export.ADAPTER,
    graph_edges.ADAPTER,
    letta_memory.ADAPTER,
    hindsight_bank_export.ADAPTER,
    mcp_memory_graph.ADAPTER,
)
#: Probed in this order; the last one accepts nearly anything.
ADAPTERS: tuple[Adapter, ...] = (
    exported_zone.ADAPTER,
    slack.ADAPTER,
    chatgpt.ADAPTER,
    claude_ai.ADAPTER,
    gemini.ADAPTER,
    grok.ADAPTER,
    *MEMORY_ADAPTERS,
    maildir.ADAPTER,
    mbox.ADAPTER,
    mails.ADAPTER,
    icalendar.ADAPTER,
    claude_code.ADAPTER,
    codex.ADAPTER,
    gemini_cli.ADAPTER,
    cursor.ADAPTER,
    opencode.ADAPTER,
    aider.ADAPTER,
    matrix.ADAPTER,
    telegram.ADAPTER,
    discord.ADAPTER,
    google_chat.ADAPTER,
    hangouts.ADAPTER,
    imessage.ADAPTER,
    sms_backup.ADAPTER,
    skype.ADAPTER,
    teams.ADAPTER,
    twitter.ADAPTER,
    linkedin.ADAPTER,
    irc.ADAPTER,
    signal_chats.ADAPTER,
    instagram.ADAPTER,
    whatsapp.ADAPTER,
    google_keep.ADAPTER,
    evernote.ADAPTER,
    notes.ADAPTER,
    jsonl.ADAPTER,
)
#: How many notes in Markdown a folder beside other exports must hold.
_MIN_MARKDOWN = 2
FORMATS = ("auto", *(adapter.name for adapter in ADAPTERS))

# Maximum number of skipped file names in a report.
_MAX_LISTED = 5
# Metadata files of operating systems.
_SYSTEM_FILES = re.compile(r"\.|__MACOSX$|Thumbs\.db$|desktop\.ini$")
# Maximum depth of nested archives: people pack exports that programs have packed already.
_MAX_NESTED_ARCHIVES = 2
_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.gz)$", re.IGNORECASE)


class Export(msgspec.Struct):
    """An export found in an input: its path, its format, and its open source."""

    path: str
    format: str
    source: ExportSource


class Input(msgspec.Struct):
    """The contents of an input: exports in a fixed order, rejections, and skipped files.

    `size`: how many bytes will be read, or None if that is unknown.
    """

    exports: list[Export] = []
    rejections: list[Rejection] = []
    skipped: list[Skipped] = []
    size: int | None = 0


def open_input(
    path: Path,
    format_: str = "auto",
    options: Options | None = None,
    byte_counter: ByteCounter | None = None,
) -> Input:
    """Return the exports of a file, a directory, an archive, or standard input (`-`).

    Of standard input only the beginning is read. `byte_counter` counts the bytes that are read
    later.

    Raises:
        InvalidInput: the input is unreadable, its format is unknown, or an option is missing; the
            message says what to do.
    """
    return _InputOpener(path, format_, options or Options(), byte_counter or ByteCounter()).open()


class _InputOpener:
    def __init__(
        self, path: Path, format_: str, options: Options, byte_counter: ByteCounter
    ) -> None:
        self._path = path
        self._adapters = [a for a in ADAPTERS if format_ in ("auto", a.name)]
        self._format_given = format_ != "auto"
        self._options = options
        self._byte_counter = byte_counter
        self._input = Input([], [], [])
        self._skipped: list[str] = []
        self._skipped_count = 0
        # Exports that could not be opened, and advice on the first unknown file of a folder.
        self._refused: list[tuple[str, InvalidInput]] = []
        self._lookalike = ""
        # How many archives are open around the current folder.
        self._archive_depth = 0

    def open(self) -> Input:
        if self._path != STANDARD_INPUT and self._path.is_dir():
            directory = Directory(self._path, self._byte_counter)
            for unreadable in directory.rejections():
                raise InvalidInput(f"{unreadable.path}: {unreadable.reason}")
            self._add_folder(directory, None)
            return self._result("")
        file = InputFile(self._path, self._byte_counter)
        try:
            folder = open_archive(file, self._byte_counter)
        except DamagedInput as error:
            raise InvalidInput(f"{file.path} is a damaged gzip file: {error}") from None
        if folder is not None:
            self._input.size = file.size
            self._add_archive(folder, file.path)
            return self._result(f"{file.path} is an archive, and ")
        self._input.size = file.size
        adapter = self._adapters[0] if self._format_given else self._adapter_of(file, file.start())
        if adapter is None:
            raise InvalidInput(advice(file.start(), self._path, FORMATS[1:]))
        if self._format_given and adapter in MEMORY_ADAPTERS:
            _check_export_of(adapter, file, self._path)
        entry: InputEntry = file
        if self._path == STANDARD_INPUT and adapter is not jsonl.ADAPTER:
            # Lines are read as they arrive; any other format may be read more than once.
            entry = SpooledInput(file)
        self._add_export(adapter, file.path, partial(adapter.read, entry, self._options))
        return self._result("")

    def _result(self, subject: str) -> Input:
        """Return the contents of the input; raise InvalidInput if there are none."""
        if self._refused and not self._input.exports:
            # There is nothing else to read, so a missing option is an error at once.
            raise RefusedExport(_refusal_message(self._refused))
        self._input.rejections += [refusal(path, error) for path, error in self._refused]
        if not self._input.exports and not self._input.rejections:
            names = f" ({', '.join(self._skipped)})" if self._skipped else ""
            none_clause = (
                f"none of its {self._skipped_count} files{names} is"
                if self._skipped_count
                else "no file is"
            )
            format_names = ", ".join(adapter.name for adapter in self._adapters)
            raise InvalidInput(
                f"{subject or f'{self._path} is a folder, and '}{none_clause} in a known format "
                f"({format_names}){self._lookalike}"
            )
        if self._skipped_count:
            path = str(self._path)
            self._input.skipped.append(
                Skipped(path=path, files=self._skipped_count, names=self._skipped)
            )
        return self._input

    def _add_archive(self, folder: Folder, path: str) -> None:
        self._input.rejections += folder.rejections()
        self._archive_depth += 1
        self._add_folder(folder, path)
        self._archive_depth -= 1

    def _add_folder(self, folder: Folder, archive: str | None, *, is_whole: bool = True) -> None:
        """Add the exports of a folder: the folder itself, or those of its files and folders.

        `is_whole`: nothing else was given, apart from folders around it.
        """
        for adapter in self._adapters:
            if adapter.read_folder is not None and self._recognises_folder(
                adapter, folder, is_whole
            ):
                open_export = partial(adapter.read_folder, folder, self._options)
                self._add_export(adapter, folder.path, open_export)
                if archive is None:
                    self._add_size(None)
                    for subfolder in all_folders(folder):
                        self._input.rejections += subfolder.rejections()
                return
        if archive is None:
            self._input.rejections += folder.rejections()
        self._skipped_count += folder.other_count()
        for name in folder.files():
            if not _SYSTEM_FILES.match(name):
                self._add_file(folder.file(name), archive)
        for name in folder.folders():
            if not _SYSTEM_FILES.match(name):
                is_only = is_whole and notes.contains_one_folder(folder)
                self._add_folder(folder.folder(name), archive, is_whole=is_only)

    def _recognises_folder(self, adapter: Adapter, folder: Folder, is_whole: bool) -> bool:
        """Return whether a folder is an export; False if a file that it has to read is damaged."""
        try:
            if adapter is notes.ADAPTER:
                return self._holds_notes(folder, is_whole)
            return adapter.recognises_folder is not None and adapter.recognises_folder(folder)
        except DamagedInput:
            return False

    def _holds_notes(self, folder: Folder, is_whole: bool) -> bool:
        """Return whether a folder is read as notes: as asked for, or because it holds little else.

        A folder that only contains another one may be an archive of it; the inner one counts. Texts
        beside other exports are more often attached to them, or describe them.
        """
        if notes.contains_one_folder(folder):
            return False
        if self._format_given:
            return notes.has_notes(folder)
        return notes.is_vault(folder) or notes.consists_of_notes(
            folder, self._is_of_other_format, min_markdown=0 if is_whole else _MIN_MARKDOWN
        )

    def _is_of_other_format(self, entry: InputEntry) -> bool:
        """Return whether a file is an export of a program, or an archive."""
        if _ARCHIVE.search(entry.name):
            return True
        start = entry.start()
        adapter = self._adapter_of(entry, start)
        if adapter is jsonl.ADAPTER:
            return jsonl.holds_events(start, entry.name)
        return adapter is not None and adapter is not notes.ADAPTER

    def _add_file(self, entry: InputEntry, archive: str | None) -> None:
        """Add the export of a file in a folder; archives are opened, up to the maximum depth."""
        try:
            if self._archive_depth < _MAX_NESTED_ARCHIVES and _ARCHIVE.search(entry.name):
                # For a nested archive the bytes of the outer one are counted.
                folder = open_archive(
                    entry, self._byte_counter if archive is None else ByteCounter()
                )
                if folder is not None:
                    if archive is None:
                        self._add_size(entry.size)
                    self._add_archive(folder, entry.path)
                    return
            start = entry.start()
            adapter = self._adapter_of(entry, start)
            if adapter is notes.ADAPTER or (
                adapter is jsonl.ADAPTER and not jsonl.holds_events(start, entry.name)
            ):
                # A single text among other files is more often a description of them.
                adapter = None
            if adapter is None and not self._lookalike:
                description = lookalike(start, entry.name)
                self._lookalike = f"; {entry.name}: {description}" if description else ""
        except InvalidInput as error:
            # An unreadable file does not prevent other files from being read.
            self._input.rejections.append(Rejection(entry.path, 1, str(error)))
            return
        if adapter is None:
            self._skipped_count += 1
            if len(self._skipped) < _MAX_LISTED:
                self._skipped.append(entry.name)
            return
        if archive is None:
            self._add_size(entry.size)
        self._add_export(adapter, entry.path, partial(adapter.read, entry, self._options))

    def _adapter_of(self, entry: InputEntry, start: bytes) -> Adapter | None:
        return next((a for a in self._adapters if a.recognises(start, entry.name)), None)

    def _add_export(
        self, adapter: Adapter, path: str, open_export: Callable[[], ExportSource]
    ) -> None:
        """Open an export and add it; a refused export does not prevent others from being read."""
        try:
            source = _with_options(open_export(), self._options)
            self._input.exports.append(Export(path, adapter.name, source))
        except InvalidInput as error:
            self._refused.append((path, error))

    def _add_size(self, size: int | None) -> None:
        known = self._input.size is not None and size is not None
        self._input.size = self._input.size + size if known else None  # type: ignore[operator]


def _check_export_of(adapter: Adapter, file: InputEntry, path: Path) -> None:
    """Raise InvalidInput if a file is not an export of this system; say what it looks like."""
    start = file.start()
    if adapter.recognises(start, file.name):
        return
    other = next((one.name for one in ADAPTERS if one.recognises(start, file.name)), None)
    found = advice(start, path, FORMATS[1:]) if other is None else f"it looks like {other}"
    raise InvalidInput(f"{file.path} is not in the format of {adapter.name}: {found}")


def refusal(path: str, error: InvalidInput) -> Rejection:
    """Return the rejection of an export that cannot be opened; its reason omits the path."""
    return Rejection(path, 1, str(error).removeprefix(f"{path} "))


def _refusal_message(refused: Sequence[tuple[str, InvalidInput]]) -> str:
    """Return the message for an input whose exports were all refused."""
    (_, first), *others = refused
    if not others:
        return str(first)
    return f"{first} (and {pluralise(len(others), 'more export')} likewise)"


def followed_source(entry: InputEntry, format_: str, options: Options) -> ExportSource:
    """Open a growing file with the adapter of its format.

    Raises:
        InvalidInput: its format cannot be followed.
    """
    followable = [adapter for adapter in ADAPTERS if adapter.supports_follow]
    start = entry.start()
    for adapter in followable:
        if format_ == adapter.name or (format_ == "auto" and adapter.recognises(start, entry.name)):
            return _with_options(adapter.read(entry, options), options)
    raise InvalidInput(
        f"{entry.path} cannot be followed: formats that can be followed are "
        f"{', '.join(adapter.name for adapter in followable)}"
    )


def _with_options(source: ExportSource, options: Options) -> ExportSource:
    if options.timezone is not None:
        source = LocalisedSource(source, options.timezone)
    return HistoricalSource(source) if options.historical else source


def total_size(inputs: Sequence[Input]) -> int | None:
    """Return the total size of inputs in bytes, or None if one is unknown."""
    sizes = [one.size for one in inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def exports_of(inputs: Sequence[Input]) -> Iterator[Export]:
    """Yield the exports of all inputs, in order."""
    for one in inputs:
        yield from one.exports
