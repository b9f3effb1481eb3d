"""Imports the sessions of Google's Gemini CLI: what the user typed, and the answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.schemas.errors import InvalidInput
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
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import nested

_PLATFORM = "gemini_cli"
_NAME = "Gemini"
_START = re.compile(rb'\{\s*"sessionId"\s*:\s*"[^"]+"\s*,\s*"projectHash"\s*:')
_ROLES = {"user": USER, "gemini": ASSISTANT}
# Messages of the program itself.
_SILENT = frozenset({"info", "error", "warning", "about", "help", "stats", "quit", "compression"})
# The contents of files that a prompt names follow it.
_FILES = re.compile(r"\n*--- Content from referenced files ---.*", re.DOTALL)


def _recognises(start: bytes, name: str) -> bool:
    return _START.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    turns = Turns()
    records = ((number, (about, one)) for number, about, one in nested(entry, "messages.item"))
    return convert(records, lambda record: _events(*record, turns))


def _events(about: Mapping[str, Any], value: object, turns: Turns) -> Iterator[InboundEvent]:
    message = dict_or_empty(value)
    kind = message.get("type")
    if kind in _SILENT:
        return
    role = _ROLES.get(str(kind))
    if role is None:
        raise InvalidInput(f"a message with the unknown type {str(kind)[:60]!r}")
    content = message.get("content")
    parts = [content] if isinstance(content, str) else list_or_empty(content)
    texts = [one if isinstance(one, str) else dict_or_empty(one).get("text") for one in parts]
    text = without_injected("\n".join(filter(None, map(text_or_none, texts))))
    if role == USER:
        text = _FILES.sub("", text).strip()
    if not text:
        return
    session = str(about.get("sessionId"))
    at = parse_time(message.get("timestamp"))
    id_ = f"{session}:{text_or_none(message.get('id')) or at}"
    turn = turns.of(role, id_)
    yield message_event(
        *(_PLATFORM, role, text, at),
        id=id_,
        chat=session,
        turn=turn,
        name=_NAME if role == ASSISTANT else None,
        # A later message may belong to the same turn: tools are called between them.
        ends_turn=False,
        reply_to=turns.question if role == ASSISTANT else None,
        metadata={"project": text_or_none(about.get("projectHash"))},
    )


ADAPTER = Adapter(
    _PLATFORM,
    _recognises,
    lambda entry, options: SingleFileSource(entry, _parse, revisable="growing"),
)
