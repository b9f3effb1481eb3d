"""Imports the chats of Cursor, from the database in which the editor keeps its state.

A chat is a value with the ids of its messages, each a value of its own; older chats hold them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    Adapter,
    ParseResult,
    SingleFileSource,
    convert,
    read_all,
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
from recollect.streams.adapters.input.json_documents import decoded

_PLATFORM = "cursor"
_NAME = "Cursor"
_FILE, _BACKUP = "state.vscdb", "state.vscdb.backup"
_TABLE = b"cursorDiskKV"
_ROLES = {1: USER, 2: ASSISTANT}
_CHATS = """
    SELECT key, value FROM cursorDiskKV
    WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL
    ORDER BY CASE WHEN json_valid(CAST(value AS TEXT))
        THEN json_extract(CAST(value AS TEXT), '$.createdAt') END, key
"""
_MESSAGE = "SELECT value FROM cursorDiskKV WHERE key = ?"
# What Cursor knows of when a message was written, the most exact first.
_TIMES = ("clientRpcSendTime", "clientSettleTime", "clientEndTime")
# Smaller numbers are the time since the editor was started.
_EARLIEST_MS = 1_000_000_000_000


class _Message(NamedTuple):
    """A message of a chat. `by_agent`: another agent began the chat, and wrote its prompts."""

    chat: str
    by_agent: bool
    fields: Mapping[str, Any]
    at: str | int | None


def _recognises(start: bytes, name: str) -> bool:
    return start.startswith(SQLITE) and (name in (_FILE, _BACKUP) or _TABLE in start)


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    with opened_copy(entry, write_ahead_log(entry), "Cursor's database") as database:
        for number, row in enumerate(database.execute(_CHATS), 1):
            messages = read_all(lambda one: _messages(database, one), row)
            if isinstance(messages, InvalidInput):
                yield number, messages
                continue
            yield from convert(
                ((number, message) for message in messages), partial(_events, turns=Turns())
            )


def _messages(database: sqlite3.Connection, row: sqlite3.Row) -> Iterator[_Message]:
    """Yield the messages of a chat, each with its time.

    A message without a time has that of the one before it, or that of the chat: what follows may
    still be missing.
    """
    chat = dict_or_empty(decoded(row["value"]))
    id_ = text_or_none(chat.get("composerId")) or str(row["key"]).partition(":")[2]
    found = [dict_or_empty(one) for one in list_or_empty(chat.get("conversation"))]
    for header in list_or_empty(chat.get("fullConversationHeadersOnly")):
        key = f"bubbleId:{id_}:{dict_or_empty(header).get('bubbleId')}"
        value = database.execute(_MESSAGE, (key,)).fetchone()
        if value is not None and value["value"] is not None:
            found.append(dict_or_empty(decoded(value["value"])))
    last = parse_time(chat.get("createdAt"))
    for message in found:
        last = _own_time(message) or last
        yield _Message(id_, "subagentInfo" in chat, message, last)


def _own_time(message: Mapping[str, Any]) -> str | int | None:
    timing = dict_or_empty(message.get("timingInfo"))
    measured = (timing.get(name) for name in _TIMES)
    sent = (one for one in measured if isinstance(one, int | float) and one > _EARLIEST_MS)
    return parse_time(message.get("createdAt")) or parse_time(next(sent, None))


def _events(message: _Message, turns: Turns) -> Iterator[InboundEvent]:
    """Yield the event of a message; none if it only called a tool, or thought."""
    fields = message.fields
    role = _ROLES.get(fields.get("type", 0))
    if role is None:
        raise InvalidInput(f"a message with the unknown type {str(fields.get('type'))[:60]!r}")
    text = without_injected(text_or_none(fields.get("text")) or "")
    pictures = tuple(Attachment(type="image") for _ in list_or_empty(fields.get("images")))
    if (not text and not pictures) or (role == USER and message.by_agent):
        return
    id_ = f"{message.chat}:{fields['bubbleId']}"
    turn = turns.of(role, id_)
    yield message_event(
        *(_PLATFORM, role, text, message.at),
        id=id_,
        chat=message.chat,
        turn=turn,
        name=_NAME if role == ASSISTANT else None,
        # A later message may belong to the same turn: tools are called between them.
        ends_turn=False,
        reply_to=turns.question if role == ASSISTANT else None,
        attachments=pictures,
    )


ADAPTER = Adapter(
    _PLATFORM,
    _recognises,
    lambda entry, options: SingleFileSource(entry, _parse, revisable="growing"),
)
