"""Notes of Evernote, as it exports them (`.enex`): XML files, with the text of a note as HTML.

A note has no id but its title and the time at which it was created; of several with the same, each
after the first has a number. A changed note is an edit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from xml.parsers import expat

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.mail.html_text import text_of_html

_PLATFORM = "evernote"
_USER = "user"
_PROLOGUE = re.compile(rb"\s*<(?:\?xml|!DOCTYPE en-export|en-export)\b")
_ROOT = re.compile(rb"<en-export\b")
_CHUNK_BYTES = 1 << 16
_TIME = re.compile(r"(\d{8}T\d{6})Z")
# The elements whose text is kept, by the element around them.
_FIELDS = {
    "note": frozenset({"title", "content", "created", "updated", "tag"}),
    "note-attributes": frozenset({"source-url"}),
    "resource": frozenset({"mime"}),
    "resource-attributes": frozenset({"file-name"}),
}
_TO_DO = re.compile(r"<en-todo\b([^<>]*)>(?:\s*</en-todo>)?")
_ENCRYPTED = re.compile(r"<en-crypt\b[^<>]*>[^<>]*</en-crypt>")


class _Note(msgspec.Struct):
    """A note: its elements, and the elements of its files."""

    fields: dict[str, list[str]] = {}
    files: list[dict[str, str]] = []


class _Reader:
    """Collects the notes of a file that is fed to it in pieces."""

    def __init__(self) -> None:
        self.found: list[tuple[int, _Note]] = []
        self._note: _Note | None = None
        self._line = 1
        self._open: list[str] = []
        # The pieces of the text of the element that is being read, if it is kept.
        self._text: list[str] | None = None
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._refuse

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        around = self._open[-1] if self._open else ""
        self._open.append(name)
        if name == "note":
            self._note, self._line = _Note({}, []), self.parser.CurrentLineNumber
        elif name == "resource" and self._note is not None:
            self._note.files.append({})
        self._text = [] if name in _FIELDS.get(around, ()) else None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, name: str) -> None:
        self._open.pop()
        if self._note is None:
            return
        if name == "note":
            self.found.append((self._line, self._note))
            self._note = None
        elif self._text is not None:
            text = "".join(self._text).strip()
            if {"resource", "resource-attributes"} & {*self._open[-1:]}:
                self._note.files[-1][name] = text
            else:
                self._note.fields.setdefault(name, []).append(text)
        self._text = None

    def _refuse(self, *declaration: object) -> None:
        raise DamagedInput("the file declares XML entities, which no export does")


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK)
    return _PROLOGUE.match(head) is not None and _ROOT.search(head) is not None


def _notes(entry: InputEntry) -> Iterator[tuple[int, _Note]]:
    """Yield the notes of a file, with their lines.

    Raises:
        DamagedInput: the file is damaged from here on.
    """
    reader = _Reader()
    with entry.open() as file:
        while True:
            piece, damage = file.read(_CHUNK_BYTES), None
            try:
                reader.parser.Parse(piece, not piece)
            except expat.ExpatError as error:
                damage = DamagedInput(f"not XML from here on: {error}")
            yield from reader.found
            reader.found = []
            if damage is not None:
                raise damage
            if not piece:
                return


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    same: Counter[str] = Counter()
    return convert(_notes(entry), lambda note: _events(note, same))


def _events(note: _Note, same: Counter[str]) -> Iterator[InboundEvent]:
    """Yield the event of a note; none if it is empty.

    `same`: how many notes with the same title and time preceded it in the file.
    """
    first = {name: values[0] for name, values in note.fields.items() if values}
    created = _time(first.get("created")) or _time(first.get("updated"))
    if created is None:
        raise InvalidInput("the note has no time (created, updated)")
    title, text = first.get("title", ""), _text(first.get("content", ""))
    id_ = f"{created}:{title[:200]}"
    same[id_] += 1
    if same[id_] > 1:
        id_ = f"{id_}:{same[id_]}"
    attachments = tuple(_attachments(note, first.get("source-url", "")))
    content = "\n\n".join(filter(None, (title, text)))
    if not text and not attachments:
        return
    metadata: dict[str, Any] = {"title": title, "tags": note.fields.get("tag")}
    yield InboundEvent(
        platform=_PLATFORM,
        id=id_,
        sender_id=_USER,
        thread_id=id_,
        occurred_at=_time(first.get("updated")) or created,
        content=content,
        attachments=attachments,
        metadata={key: value for key, value in metadata.items() if value},
    )


def _time(text: str | None) -> str | None:
    found = _TIME.fullmatch(text or "")
    if found is None:
        return None
    return datetime.strptime(found[1], "%Y%m%dT%H%M%S").replace(tzinfo=UTC).strftime("%FT%TZ")


def _text(content: str) -> str:
    """Return a note's text, with its to-do lists as in Markdown."""
    content = _ENCRYPTED.sub("", content)
    content = _TO_DO.sub(
        lambda found: "- [x] " if 'checked="true"' in found[1] else "- [ ] ", content
    )
    # What precedes the note is a declaration of its kind.
    return text_of_html(content[max(content.find("<en-note"), 0) :])


def _attachments(note: _Note, address: str) -> Iterator[Attachment]:
    for file in note.files:
        mime = file.get("mime") or ""
        family = mime.partition("/")[0]
        yield Attachment(
            type=family if family in ("image", "audio", "video") else "file",
            name=file.get("file-name") or None,
            mime_type=mime or None,
        )
    if address:
        yield Attachment(type="link", url=address)


ADAPTER = Adapter(
    _PLATFORM,
    _recognises,
    lambda entry, options: SingleFileSource(entry, _parse, revisable="changing"),
)
