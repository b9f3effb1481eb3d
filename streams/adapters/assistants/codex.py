"""Imports the sessions of OpenAI's Codex: what the user typed, and the answers.

Each line of a session is a record. Records of the role "user" also hold context that Codex adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

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
from recollect.streams.adapters.assistants.assistant_chats import Turns, message_event, time_key
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    MAX_LINE_BYTES,
    USER,
    dict_or_empty,
    list_or_empty,
    parse_time,
    text_or_none,
    without_injected,
)
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import decoded
from recollect.streams.adapters.input.text_lines import lines

_PLATFORM = "codex"
_NAME = "Codex"
_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
# How many lines of a file's beginning are probed.
_MAX_PROBED_LINES = 20
# The beginnings of texts that Codex writes as the user.
_ADDED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|user_shell_command|skill|"
    r"subagent_notification|collaboration_mode|permissions instructions|model_switch)\b"
    r"|# AGENTS\S* instructions for\b)",
    re.IGNORECASE,
)
# Editors put the open files before a prompt.
_EDITOR_CONTEXT = re.compile(
    r"\s*# Context from my IDE setup:.*?^## My request for Codex:", re.S | re.M
)


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not head.startswith(b"{"):
        return False
    is_first_version = False
    for number, line in enumerate(head.split(b"\n", _MAX_PROBED_LINES)[:_MAX_PROBED_LINES]):
        try:
            record = dict_or_empty(msgspec.json.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # A long line is cut off at the end of the probed bytes.
            return bool(re.match(rb'\{"timestamp":"[^"]*","type":"session_meta","payload":', line))
        kind = record.get("type")
        if isinstance(kind, str) and kind in _ENVELOPES:
            return isinstance(record.get("payload"), dict)
        if number == 0:
            is_first_version = {"id", "timestamp", "instructions"} <= record.keys()
        elif is_first_version and ("record_type" in record or kind == "message"):
            return True
    return False


class _Session:
    """Converts the records of a session, in order."""

    def __init__(self) -> None:
        self._id = ""
        self._at: str | int | None = None
        self._metadata: dict[str, Any] = {}
        self._by_agent = False
        self._turns = Turns()
        # How many messages have the same time; the first version of the format has no times.
        self._same_time: tuple[str | int | None, int] = (None, 0)

    def events(self, line: bytes) -> Iterator[InboundEvent]:
        """Yield the event of a record, if it is a message."""
        record = decoded(line)
        if not isinstance(record, dict):
            raise InvalidInput("not a record of Codex: it is not an object")
        payload = record.get("payload")
        if isinstance(payload, dict):
            self._at = parse_time(record.get("timestamp")) or self._at
            kind = record.get("type")
            if kind == "session_meta":
                self._begin(payload)
            elif kind == "response_item" and payload.get("type") == "message":
                yield from self._message(payload)
            elif kind == "event_msg" and payload.get("type") in ("task_complete", "turn_complete"):
                yield from self._end_of_turn()
        elif record.get("type") == "message":
            yield from self._message(record)
        elif "id" in record and "timestamp" in record:
            self._at = parse_time(record["timestamp"])
            self._begin(record)

    def _begin(self, session: Mapping[str, Any]) -> None:
        if self._id:
            # A session that continues another one repeats its records.
            return
        self._id = text_or_none(session.get("id")) or str(self._at)
        branch = dict_or_empty(session.get("git")).get("branch")
        found = {"project": session.get("cwd"), "branch": branch}
        self._metadata = {name: value for name, value in found.items() if text_or_none(value)}
        # An agent writes the prompts of the agents that it starts.
        self._by_agent = "subagent" in dict_or_empty(session.get("source"))

    def _message(self, message: Mapping[str, Any]) -> Iterator[InboundEvent]:
        role = message.get("role")
        if role not in (USER, ASSISTANT) or (role == USER and self._by_agent):
            return
        blocks = [dict_or_empty(one) for one in list_or_empty(message.get("content"))]
        texts = [str(one["text"]) for one in blocks if isinstance(one.get("text"), str)]
        if role == USER:
            texts = [_EDITOR_CONTEXT.sub("", text) for text in texts if not _ADDED.match(text)]
        text = without_injected("\n".join(texts))
        pictures = tuple(
            Attachment(type="image") for one in blocks if one.get("type") == "input_image"
        )
        if not text and not pictures:
            return
        id_ = self._next_id()
        turn = self._turns.of(role, id_)
        yield message_event(
            _PLATFORM,
            role,
            text,
            self._at,
            id=id_,
            chat=self._id or None,
            turn=turn,
            name=_NAME if role == ASSISTANT else None,
            ends_turn=False,
            reply_to=self._turns.question if role == ASSISTANT else None,
            attachments=pictures,
            metadata=self._metadata,
        )

    def _end_of_turn(self) -> Iterator[InboundEvent]:
        if (turn := self._turns.end()) is None:
            return
        yield message_event(
            *(_PLATFORM, ASSISTANT, "", self._at),
            id=f"{turn}:completed",
            chat=self._id or None,
            turn=turn,
            name=_NAME,
            metadata=self._metadata,
        )

    def _next_id(self) -> str:
        at, count = self._same_time
        count = count + 1 if at == self._at else 1
        self._same_time = (self._at, count)
        suffix = f":{count}" if count > 1 else ""
        return f"{self._id}:{round(time_key(self._at) * 1000)}{suffix}"


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    session = _Session()
    yield from convert(_lines(entry), session.events)


def _lines(entry: InputEntry) -> Iterator[tuple[int, bytes]]:
    with entry.open() as file:
        for number, line in enumerate(lines(file, MAX_LINE_BYTES), 1):
            if text := line.removeprefix(BYTE_ORDER_MARK).strip():
                yield number, text


ADAPTER = Adapter(_PLATFORM, _recognises, lambda entry, options: SingleFileSource(entry, _parse))
