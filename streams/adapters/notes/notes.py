"""Notes: a folder of Markdown or plain text, such as a vault of Obsidian, or one such file.

A note is a message of the user, in a thread of its own. Its id is its path in the folder, and its
time the one that it states, else that of its file. A changed note is an edit, at its file's time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import MAX_NAME_BYTES, InboundEvent
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
)
from recollect.streams.adapters.import_options import Options, localised
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import STANDARD_INPUT, InputEntry, decoded_path
from recollect.streams.adapters.input.text_lines import decode_text
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES
from recollect.streams.adapters.notes.front_matter import (
    Properties,
    properties_below_title,
    split_front_matter,
    texts,
    time_of,
    written_at,
)
from recollect.streams.adapters.notes.markdown import NoteWords, words_of

_PLATFORM = "notes"
# The sender of notes: their writer, whom no file names; `remember` has the same default.
_USER = "user"
_MARKDOWN = re.compile(r"\.(?:md|markdown|mdown)\Z", re.IGNORECASE)
_NOTE = re.compile(r"\.(?:md|markdown|mdown|txt|text)\Z", re.IGNORECASE)
# Files that notes embed, or that programs for notes keep beside them.
_COMPANION = re.compile(
    r"\.(?:png|jpe?g|gif|webp|heic|avif|bmp|svg|tiff?|mp[34]|mov|webm|mkv|avi|ogg|wav|m4a|flac|opus"
    r"|3gp|pdf|docx?|xlsx?|pptx?|od[tsp]|epub|canvas|base|css|bib)\Z",
    re.IGNORECASE,
)
_VAULT_FOLDERS = frozenset({".obsidian", "logseq", ".logseq"})
_HIDDEN = re.compile(r"\.|__MACOSX\Z|logseq\Z|Thumbs\.db\Z|desktop\.ini\Z")
_MAX_DEPTH = 32
# A time outside is what a note is about, not when it was written.
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)
# Notion appends the id of a page to its name.
_NOTION_ID = re.compile(r"[ -][0-9a-f]{32}\Z")
_DAY = re.compile(r"(\d{4})[-_](\d{2})[-_](\d{2})(?![\d])")
_DATED_LINE = re.compile(r"\W{0,2}\d{1,4}[:./-]\d{1,2}\b")
_MIN_DATED_LINES = 3
_MAX_PROBED_LINES = 40


def is_vault(folder: Folder) -> bool:
    """Return whether a folder is marked as one of notes, by the program that wrote it."""
    return not _VAULT_FOLDERS.isdisjoint(folder.folders()) and any(True for _ in _notes(folder))


def contains_one_folder(folder: Folder) -> bool:
    """Return whether a folder contains nothing but another one."""
    names = [*folder.files(), *folder.folders()]
    visible = [name for name in names if not _HIDDEN.match(name)]
    return len(visible) == 1 and visible[0] in folder.folders() and not is_vault(folder)


def has_notes(folder: Folder) -> bool:
    """Return whether there are notes in a folder or its subfolders."""
    return any(True for _ in _notes(folder))


def consists_of_notes(
    folder: Folder, is_other: Callable[[InputEntry], bool], *, min_markdown: int
) -> bool:
    """Return whether most files in a folder and its subfolders are notes, and none is an export.

    Files that notes embed do not count. `is_other`: whether a file is of another format.
    `min_markdown`: how many of the notes must be in Markdown.
    """
    entries = [(name, entry) for name, entry in _files(folder) if not _COMPANION.search(name)]
    if sum(_MARKDOWN.search(name) is not None for name, _ in entries) < min_markdown:
        return False
    count = sum(_NOTE.search(name) is not None for name, _ in entries)
    if 2 * count <= len(entries) or any(is_vault(one) for one in _subfolders(folder)):
        return False
    return not any(is_other(entry) or _is_log(entry) for _, entry in entries)


def _subfolders(folder: Folder) -> Iterator[Folder]:
    return (folder.folder(name) for name in folder.folders() if not _HIDDEN.match(name))


def _files(folder: Folder, path: str = "", depth: int = 0) -> Iterator[tuple[str, InputEntry]]:
    """Yield the files of a folder and its subfolders, by path, without hidden ones."""
    for name in folder.files():
        if not _HIDDEN.match(name):
            yield f"{path}{name}", folder.file(name)
    if depth < _MAX_DEPTH:
        for name in folder.folders():
            if not _HIDDEN.match(name):
                yield from _files(folder.folder(name), f"{path}{name}/", depth + 1)


def _notes(folder: Folder) -> Iterator[tuple[str, InputEntry]]:
    return ((path, entry) for path, entry in _files(folder) if _NOTE.search(path))


def _is_log(entry: InputEntry) -> bool:
    """Return whether most lines of a text begin with a time, as in chats of unknown programs."""
    text = decode_text(entry.start())
    lines = [line for line in text.split("\n") if line.strip()][:_MAX_PROBED_LINES]
    dated = sum(_DATED_LINE.match(line) is not None for line in lines)
    return dated >= _MIN_DATED_LINES and 2 * dated > len(lines)


class _Notes(ExportSource):
    """Notes by their paths in a folder; `name` is that of the folder."""

    revisable = "changing"

    def __init__(
        self, name: str, notes: Callable[[], Iterator[tuple[str, InputEntry]]], options: Options
    ) -> None:
        self._name = name
        self._list_notes = notes
        self._zone: tzinfo = options.timezone or UTC

    def parts(self) -> Iterator[ExportFile]:
        for path, entry in self._list_notes():
            yield ExportFile(entry.path, self._parse(path, entry))

    def _parse(self, path: str, entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
        def numbered() -> Iterator[tuple[int, InputEntry]]:
            yield 1, entry

        return convert(numbered(), lambda one: self._events(path, one))

    def _events(self, path: str, entry: InputEntry) -> Iterator[InboundEvent]:
        """Yield the event of a note; none if it has no words."""
        text = _text_of(entry)
        properties, body = split_front_matter(text)
        if _MARKDOWN.search(entry.name):
            words = words_of(body)
        else:
            words = NoteWords("", body.strip(), "", (), [], [])
        attachments = list(words.attachments)
        if words.quoted:
            attachments.append(Attachment(type="quotation", caption=words.quoted))
        if not words.text and not attachments:
            return
        folder, _, file = unicodedata.normalize("NFC", decoded_path(path)).rpartition("/")
        stem = _NOTE.sub("", file)
        if _NOTION_ID.search(stem):
            properties = properties or properties_below_title(body)
            stem = _NOTION_ID.sub("", stem)
        title = _title(properties, words.heading, stem)
        note = _fit(f"{self._name}/{folder}/{file}" if folder else f"{self._name}/{file}")
        metadata: dict[str, Any] = {
            "title": title or stem,
            "folder": folder,
            "tags": [one.lstrip("#") for one in texts(properties.get("tags"))] + words.tags,
            "links": words.links,
            "properties": properties,
        }
        at = self._time(properties, stem, entry)
        changed_at = entry.modified_at
        yield InboundEvent(
            platform=_PLATFORM,
            id=note,
            sender_id=_USER,
            peer_id=_fit(self._name),
            thread_id=note,
            occurred_at=_local(at),
            revised_at=_local(changed_at)
            if changed_at and _EARLIEST <= changed_at < _LATEST
            else None,
            content="\n\n".join(filter(None, (_missing_title(title, words.text), words.text))),
            attachments=tuple(attachments),
            metadata={key: value for key, value in metadata.items() if value},
        )

    def _time(self, properties: Properties, stem: str, entry: InputEntry) -> datetime:
        """Return when a note was written: as it states, as its name says, or as its file says."""
        day = _DAY.match(stem)
        named = None if day is None else time_of("-".join(day.groups()), self._zone)
        for at in (written_at(properties, self._zone), named, entry.modified_at):
            if at is not None and _EARLIEST <= at < _LATEST:
                return at
        raise InvalidInput(
            "the note states no date, and its file has no modification time; import it as a "
            "file or a folder, or begin it with a line ---, `date: 2024-05-31` and a line ---"
        )


def _local(at: datetime) -> str:
    return localised(int(at.timestamp() * 1000), at.tzinfo or UTC)


def _text_of(entry: InputEntry) -> str:
    with entry.open() as file:
        raw = file.read(MAX_MESSAGE_BYTES + 1)
    if len(raw) > MAX_MESSAGE_BYTES:
        raise InvalidInput(f"the note is too long; the maximum is {MAX_MESSAGE_BYTES} bytes")
    if b"\0" in raw:
        raise InvalidInput("the file is not text")
    text = decode_text(raw).removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _title(properties: Properties, heading: str, stem: str) -> str:
    """Return a note's title: a property, its first heading, or its file's name.

    Empty if the name is only a date.
    """
    if isinstance(title := properties.get("title"), str):
        return title
    return heading or ("" if _DAY.fullmatch(stem) else stem)


def _missing_title(title: str, text: str) -> str:
    """Return a title if the note's first line does not say it."""
    return "" if title.casefold() in text.partition("\n")[0].casefold() else title


def _fit(name: str) -> str:
    """Return a name without invisible characters, cut to the maximum length of an id."""
    shown = "".join(one for one in name if one.isprintable())
    return shown.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip()


def _folder_name(path: str) -> str:
    """Return the name of a folder or archive."""
    path = decoded_path(path)
    name = Path(path).name if Path(path).name not in ("", "..") else Path(path).resolve().name
    return re.sub(r"\.(?:zip|tar|tgz|tar\.gz)\Z", "", name, flags=re.IGNORECASE) or "notes"


def _recognises(start: bytes, name: str) -> bool:
    return _MARKDOWN.search(name) is not None and b"\0" not in start and bool(start.strip())


def _read(entry: InputEntry, options: Options) -> ExportSource:
    if Path(entry.path) == STANDARD_INPUT:
        raise InvalidInput("a note is known by its file; import the file in place of its content")
    parent = Path(entry.path).resolve().parent.name or "notes"
    return _Notes(parent, lambda: iter([(entry.name, entry)]), options)


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    return _Notes(_folder_name(folder.path), lambda: _notes(folder), options)


ADAPTER = Adapter("notes", _recognises, _read, read_folder=_read_folder)
