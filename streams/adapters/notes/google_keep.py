"""Notes of Google Keep in a Takeout: one JSON file per note, in one folder.

A note has no id but the time at which it was created. A changed note is recognised as an edit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import PROBE_BYTES, DamagedInput, InputEntry
from recollect.streams.adapters.input.json_documents import items

_PLATFORM = "keep"
_USER = "user"
# The texts of a note are between these fields, so the last one may be far from the beginning.
_FIRST_FIELDS = tuple(re.compile(rb'"%s"\s*:' % name) for name in (b"isTrashed", b"isArchived"))
_LAST_FIELD = re.compile(rb'"userEditedTimestampUsec"\s*:')
_MAX_PROBED_FILES = 20


def _recognises(start: bytes, name: str) -> bool:
    return (
        start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
        and all(field.search(start) for field in _FIRST_FIELDS)
        and (len(start) >= PROBE_BYTES or _LAST_FIELD.search(start) is not None)
    )


def _is_folder(folder: Folder) -> bool:
    """Return whether all JSON files of a folder are notes, as far as they are probed."""
    names = [name for name in folder.files() if _is_json(name)]
    return bool(names) and all(_is_note(folder.file(one)) for one in names[:_MAX_PROBED_FILES])


def _is_json(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def _is_note(entry: InputEntry) -> bool:
    try:
        return _recognises(entry.start(), entry.name)
    except DamagedInput:
        return False


class _Notes(ExportSource):
    revisable = "changing"

    def __init__(self, entries: list[InputEntry]) -> None:
        self._entries = entries

    def parts(self) -> Iterator[ExportFile]:
        for entry in self._entries:
            yield ExportFile(entry.path, _parse(entry))


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    return convert(items(entry, ""), _events)


def _events(note: Mapping[str, Any]) -> Iterator[InboundEvent]:
    """Yield the event of a note; none if it is in the trash, or empty."""
    if note.get("isTrashed") is True:
        return
    created = note.get("createdTimestampUsec") or note.get("userEditedTimestampUsec")
    edited = note.get("userEditedTimestampUsec") or created
    if not isinstance(created, int) or not isinstance(edited, int):
        raise InvalidInput("the note has no time (createdTimestampUsec, userEditedTimestampUsec)")
    title, text = (str(note.get(name) or "").strip() for name in ("title", "textContent"))
    rows = [
        f"- [{'x' if one.get('isChecked') else ' '}] {one['text']}"
        for one in note.get("listContent") or ()
        if one.get("text")
    ]
    attachments = tuple(_attachments(note))
    content = "\n\n".join(filter(None, (title, text, "\n".join(rows))))
    if not content and not attachments:
        return
    labels = [str(one["name"]) for one in note.get("labels") or () if one.get("name")]
    id_ = str(created)
    yield InboundEvent(
        platform=_PLATFORM,
        id=id_,
        sender_id=_USER,
        thread_id=id_,
        occurred_at=edited // 1000,
        content=content,
        attachments=attachments,
        metadata={key: value for key, value in (("title", title), ("tags", labels)) if value},
    )


def _attachments(note: Mapping[str, Any]) -> Iterator[Attachment]:
    for one in note.get("attachments") or ():
        name = str(one.get("filePath") or "") or None
        yield Attachment(type=attachment_type(name or ""), name=name, mime_type=one.get("mimetype"))
    for one in note.get("annotations") or ():
        if one.get("url"):
            yield Attachment(type="link", url=one["url"], caption=one.get("title") or None)


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    return _Notes([folder.file(name) for name in folder.files() if _is_json(name)])


ADAPTER = Adapter(
    _PLATFORM,
    _recognises,
    lambda entry, options: _Notes([entry]),
    recognises_folder=_is_folder,
    read_folder=_read_folder,
)
