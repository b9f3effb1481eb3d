"""Imports the sessions of OpenCode: its exports of a session, and its database of all of them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from recollect.streams.adapters.assistants.assistant_chats import Turns, message_event
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    USER,
    dict_or_empty,
    list_or_empty,
    parse_time,
    text_or_none,
    without_injected,
)
from recollect.streams.adapters.input.databases import SQLITE, opened_copy, write_ahead_log
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import decoded, items

_PLATFORM = "opencode"
_NAME = "OpenCode"
_EXPORT = re.compile(rb'\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
_DATABASE = re.compile(r"opencode[\w.-]*\.db\Z")
_MESSAGES = """
    SELECT m.id, m.session_id, m.data, s.directory, s.parent_id
    FROM message m JOIN session s ON s.id = m.session_id
    ORDER BY s.time_created, s.id, m.time_created, m.id
"""
_PARTS = "SELECT data FROM part WHERE message_id = ? ORDER BY id"


class _Record(NamedTuple):
    """A message with its parts. `by_agent`: an agent began the session, and wrote its prompts."""

    session: str
    directory: str | None
    by_agent: bool
    message: Mapping[str, Any]
    parts: list[Any]


def _recognises(start: bytes, name: str) -> bool:
    if start.startswith(SQLITE):
        return _DATABASE.match(name) is not None
    return _EXPORT.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    session = _Session()
    if not entry.start().startswith(SQLITE):
        about = dict_or_empty(next((value for _, value in items(entry, "info")), None))
        yield from convert(
            items(entry, "messages.item"), lambda one: session.events(_exported(about, one))
        )
        return
    with opened_copy(entry, write_ahead_log(entry), "OpenCode's database") as database:
        rows = enumerate(database.execute(_MESSAGES), 1)
        yield from convert(rows, lambda row: session.events(_stored(database, row)))


def _exported(about: Mapping[str, Any], value: object) -> _Record:
    """Return a message of an export. `about`: its session."""
    record = dict_or_empty(value)
    return _Record(
        str(about.get("id")),
        text_or_none(about.get("directory")),
        bool(about.get("parentID")),
        dict_or_empty(record.get("info")),
        list_or_empty(record.get("parts")),
    )


def _stored(database: sqlite3.Connection, row: sqlite3.Row) -> _Record:
    """Return a message of the database."""
    message = {**dict_or_empty(decoded(row["data"])), "id": row["id"]}
    parts = [decoded(one["data"]) for one in database.execute(_PARTS, (row["id"],))]
    by_agent = row["parent_id"] is not None
    return _Record(row["session_id"], text_or_none(row["directory"]), by_agent, message, parts)


class _Session:
    """Converts the messages of sessions, one session after the other."""

    def __init__(self) -> None:
        self._id = ""
        self._turns = Turns()

    def events(self, record: _Record) -> Iterator[InboundEvent]:
        """Yield the event of a message; none if it only called tools, or sums up a session."""
        if record.session != self._id:
            self._id, self._turns = record.session, Turns()
        message = record.message
        role = message.get("role")
        if role not in (USER, ASSISTANT):
            raise InvalidInput(f"a message with the unknown role {str(role)[:60]!r}")
        if (role == USER and record.by_agent) or message.get("summary") is True:
            return
        parts = [one for one in map(dict_or_empty, record.parts) if _is_written(one)]
        text = without_injected(
            "\n".join(filter(None, (text_or_none(p.get("text")) for p in parts)))
        )
        files = tuple(_files(record.parts)) if role == USER else ()
        if not text and not files:
            return
        id_ = f"{record.session}:{message['id']}"
        turn = self._turns.of(role, id_)
        yield message_event(
            *(_PLATFORM, role, text, parse_time(dict_or_empty(message.get("time")).get("created"))),
            id=id_,
            chat=record.session,
            turn=turn,
            name=_NAME if role == ASSISTANT else None,
            # A later message may belong to the same turn: tools are called between them.
            ends_turn=False,
            reply_to=self._turns.question if role == ASSISTANT else None,
            attachments=files,
            metadata={"project": record.directory},
        )


def _is_written(part: Mapping[str, Any]) -> bool:
    """Return whether a part is text that the user or the model wrote, not the program."""
    return part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored")


def _files(parts: list[Any]) -> Iterator[Attachment]:
    for part in map(dict_or_empty, parts):
        if part.get("type") == "file":
            mime = text_or_none(part.get("mime")) or ""
            family = mime.partition("/")[0]
            yield Attachment(
                type=family if family in ("image", "audio", "video") else "file",
                name=text_or_none(part.get("filename")),
                mime_type=mime or None,
            )


ADAPTER = Adapter(
    _PLATFORM,
    _recognises,
    lambda entry, options: SingleFileSource(entry, _parse, revisable="growing"),
)
