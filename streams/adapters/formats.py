"""The formats that can be imported, and how an input is taken apart into exports of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Rejection, Skipped
from recollect.streams.adapters import jsonl
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, OPENS_ARRAY, Adapter, Source
from recollect.streams.adapters.assistants import chatgpt, claude_ai, claude_code
from recollect.streams.adapters.chats import (
    discord,
    imessage,
    instagram,
    irc,
    matrix,
    signal_chats,
    slack,
    telegram,
    whatsapp,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Directory, Folder, opened_folder
from recollect.streams.adapters.input.input_files import (
    STANDARD_INPUT,
    Damaged,
    InputFile,
    Member,
    Meter,
    Spooled,
)
from recollect.streams.adapters.mail import maildir, mails, mbox

#: Asked in this order who recognises an input; the last takes nearly anything.
ADAPTERS: tuple[Adapter, ...] = (
    slack.ADAPTER,
    chatgpt.ADAPTER,
    claude_ai.ADAPTER,
    maildir.ADAPTER,
    mbox.ADAPTER,
    mails.ADAPTER,
    claude_code.ADAPTER,
    matrix.ADAPTER,
    telegram.ADAPTER,
    discord.ADAPTER,
    imessage.ADAPTER,
    irc.ADAPTER,
    signal_chats.ADAPTER,
    instagram.ADAPTER,
    whatsapp.ADAPTER,
    jsonl.ADAPTER,
)
FORMATS = ("auto", *(adapter.name for adapter in ADAPTERS))

# Of what is passed over, so many names are told.
_MAX_LISTED = 5
# What systems leave in folders, and nobody exported.
_LITTER = re.compile(r"\.|__MACOSX$|Thumbs\.db$|desktop\.ini$")
# So many archives may lie in each other: people pack what they exported, and programs too.
_MAX_NESTED_ARCHIVES = 2
_ARCHIVE = re.compile(r"\.(?:zip|tar|tgz|tar\.gz)$", re.IGNORECASE)
_TABLES = {".csv": ",", ".tsv": "\t"}
# A column that a table of events has, whatever its file is called.
_COLUMN = b"content"
_ROWS = "csv.DictReader(sys.stdin{})"
_TO_LINES = "python3 -c 'import csv, json, sys; [print(json.dumps(row)) for row in {}]'"


class Export(msgspec.Struct):
    """An export that was found in an input: its place, its format, and its open source."""

    path: str
    format: str
    source: Source


class Input(msgspec.Struct):
    """What an input holds: exports in a fixed order, what is refused, and what is passed over.

    `size`: how many bytes will be read; None where nobody knows before.
    """

    exports: list[Export] = []
    refused: list[Rejection] = []
    skipped: list[Skipped] = []
    size: int | None = 0


def open_input(
    path: Path, format_: str = "auto", options: Options | None = None, meter: Meter | None = None
) -> Input:
    """Return the exports of a file, a directory, an archive, or `-`, standard input.

    Of standard input the beginning is read. `meter` is told of each number of bytes that are read
    later.

    Raises:
        InvalidInput: the input cannot be read, is in no format that is known here, or an option is
            missing; the message says what to do.
    """
    return _Opening(path, format_, options or Options(), meter or Meter()).opened()


class _Opening:
    def __init__(self, path: Path, format_: str, options: Options, meter: Meter) -> None:
        self._path = path
        self._adapters = [a for a in ADAPTERS if format_ in ("auto", a.name)]
        self._named = format_ != "auto"
        self._options = options
        self._meter = meter
        self._input = Input([], [], [])
        self._skipped: list[str] = []
        self._count = 0
        # How many archives are open around what is looked at.
        self._within_archives = 0

    def opened(self) -> Input:
        if self._path != STANDARD_INPUT and self._path.is_dir():
            self._within(Directory(self._path, self._meter), None)
            return self._found("")
        file = InputFile(self._path, self._meter)
        try:
            folder = opened_folder(file, self._meter)
        except Damaged as error:
            raise InvalidInput(f"{file.path} is packed by gzip, and damaged: {error}") from None
        if folder is not None:
            self._input.size = file.size
            self._archive(folder, file.path)
            return self._found(f"{file.path} is an archive, and ")
        self._input.size = file.size
        adapter = self._adapters[0] if self._named else self._of_file(file, file.start())
        if adapter is None:
            start = file.start().removeprefix(BYTE_ORDER_MARK).strip()
            raise InvalidInput(_advice(start, self._path))
        member: Member = file
        if self._path == STANDARD_INPUT and adapter is not jsonl.ADAPTER:
            # Lines are read as they come; any other format may be read more than once.
            member = Spooled(file)
        self._add(adapter, file.path, adapter.read(member, self._options))
        return self._input

    def _found(self, what: str) -> Input:
        """Return what was found in a folder, if anything was."""
        if not self._input.exports and not self._input.refused:
            some = f" ({', '.join(self._skipped)})" if self._skipped else ""
            held = f"none of its {self._count} files{some} is" if self._count else "no file is"
            known = ", ".join(adapter.name for adapter in self._adapters)
            raise InvalidInput(
                f"{what or f'{self._path} is a folder, and '}{held} in a format that is known "
                f"here ({known})"
            )
        if self._count:
            path = str(self._path)
            self._input.skipped.append(Skipped(path=path, files=self._count, names=self._skipped))
        return self._input

    def _archive(self, folder: Folder, path: str) -> None:
        self._input.refused += folder.refused()
        self._within_archives += 1
        self._within(folder, path)
        self._within_archives -= 1

    def _within(self, folder: Folder, archive: str | None) -> None:
        """Add the exports of a folder: as a whole, or of each file and folder in it."""
        for adapter in self._adapters:
            whole = adapter.recognises_folder
            if whole is not None and adapter.read_folder is not None and whole(folder):
                source = adapter.read_folder(folder, self._options)
                self._add(adapter, folder.path, source)
                if archive is None:
                    self._more(None)
                return
        self._count += folder.others()
        for name in folder.files():
            if not _LITTER.match(name):
                self._file(folder.file(name), archive)
        for name in folder.folders():
            if not _LITTER.match(name):
                self._within(folder.folder(name), archive)

    def _file(self, member: Member, archive: str | None) -> None:
        """Add what a file of a folder holds; an archive is opened as well, and one within it."""
        try:
            if self._within_archives < _MAX_NESTED_ARCHIVES and _ARCHIVE.search(member.name):
                # Of one within another it is the outer's bytes that are counted.
                folder = opened_folder(member, self._meter if archive is None else Meter())
                if folder is not None:
                    if archive is None:
                        self._more(member.size)
                    self._archive(folder, member.path)
                    return
            start = member.start()
            adapter = self._of_file(member, start)
            if adapter is jsonl.ADAPTER and not jsonl.holds_events(start, member.name):
                adapter = None
        except InvalidInput as error:
            # One that cannot be read keeps nobody from the others.
            self._input.refused.append(Rejection(member.path, 1, str(error)))
            return
        if adapter is None:
            self._count += 1
            if len(self._skipped) < _MAX_LISTED:
                self._skipped.append(member.name)
            return
        if archive is None:
            self._more(member.size)
        self._add(adapter, member.path, adapter.read(member, self._options))

    def _of_file(self, member: Member, start: bytes) -> Adapter | None:
        return next((a for a in self._adapters if a.recognises(start, member.name)), None)

    def _add(self, adapter: Adapter, path: str, source: Source) -> None:
        self._input.exports.append(Export(path, adapter.name, source))

    def _more(self, size: int | None) -> None:
        known = self._input.size is not None and size is not None
        self._input.size = self._input.size + size if known else None  # type: ignore[operator]


def followed_source(member: Member, format_: str, options: Options) -> Source:
    """Return a file that grows as its adapter reads it.

    Raises:
        InvalidInput: it is in no format that can be read as it grows.
    """
    known = [adapter for adapter in ADAPTERS if adapter.follows]
    start = member.start()
    for adapter in known:
        if format_ == adapter.name or (
            format_ == "auto" and adapter.recognises(start, member.name)
        ):
            return adapter.read(member, options)
    raise InvalidInput(
        f"{member.path} cannot be followed: formats that are read as they grow are "
        f"{', '.join(adapter.name for adapter in known)}"
    )


def total_size(inputs: Sequence[Input]) -> int | None:
    """Return how many bytes some inputs have as they lie; None where nobody knows before."""
    sizes = [one.size for one in inputs]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def exports_of(inputs: Sequence[Input]) -> Iterator[Export]:
    """Yield the exports of all inputs, in order."""
    for one in inputs:
        yield from one.exports


def _advice(start: bytes, path: Path) -> str:
    """Return what to do with a file that nobody recognises."""
    what = "standard input" if path == STANDARD_INPUT else str(path)
    given = "" if path == STANDARD_INPUT else shlex.quote(str(path))
    if OPENS_ARRAY.match(start):
        return (
            f"{what} is one JSON array, and events come one object a line; take it apart: "
            f"jq -c '.[]' {given or 'FILE'} | recollect ingest -"
        )
    if separator := _separator(start, path):
        rows = _ROWS.format("" if separator == "," else ', delimiter="\\t"')
        return (
            f"{what} is a table (CSV), and events come as JSON, one object a line; name its "
            "columns platform, sender_id, occurred_at and content, and turn its rows into "
            f"objects: {_TO_LINES.format(rows)} < {given or 'FILE'} | recollect ingest -"
        )
    return (
        f"{what} is in no format that is known here ({', '.join(FORMATS[1:])}); an event is one "
        "JSON object on a line, as recollect ingest --help shows"
    )


def _separator(start: bytes, path: Path) -> str | None:
    """Return what parts the columns of a table; None: it is none."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    if suffix in _TABLES:
        return _TABLES[suffix]
    head = start.partition(b"\n")[0].strip()
    return next(
        (separator for separator in _TABLES.values() if _COLUMN in head.split(separator.encode())),
        None,
    )
