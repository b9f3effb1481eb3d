"""Grok's export: conversations with the messages of a person and of Grok."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
)
from recollect.streams.adapters.assistants.assistant_chats import (
    Turns,
    conversation_events,
    deletion_event,
    message_event,
    time_key,
)
from recollect.streams.adapters.assistants.branches import path_to, replaced_messages
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    USER,
    dict_or_empty,
    parse_time,
    text_or_none,
    without_injected,
)
from recollect.streams.adapters.input.input_files import InputEntry

_PLATFORM = "grok"
_NAME = "Grok"
_START = re.compile(rb'\{\s*"conversations"\s*:\s*\[\s*\{\s*"(?:conversation|responses)"\s*:')
_RESPONSE = re.compile(rb'"(?:response|responses)"\s*:')
_ROLES = {"human": USER, "user": USER, "assistant": ASSISTANT}


class _Message(NamedTuple):
    """A message of a conversation; `replaced`: it is on a branch that Grok does not show."""

    raw: Mapping[str, Any]
    chat: str
    turn: str
    question: str | None
    metadata: Mapping[str, Any]
    replaced: bool


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return _START.match(head) is not None and _RESPONSE.search(head) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    return conversation_events(entry, _messages, _events)


def _messages(value: object) -> Iterator[_Message]:
    """Yield the messages of a conversation in order of time.

    Raises:
        InvalidInput: it is not a conversation.
    """
    conversation = dict_or_empty(dict_or_empty(value).get("conversation"))
    chat = text_or_none(conversation.get("id"))
    responses = dict_or_empty(value).get("responses")
    if chat is None or not isinstance(responses, list):
        raise InvalidInput("not a conversation of Grok: it has no id or no responses")
    messages = [dict_or_empty(dict_or_empty(one).get("response")) for one in responses]
    times = {id_: _time(one) for one in messages if (id_ := text_or_none(one.get("_id")))}
    parents = {
        one["_id"]: parent
        for one in messages
        if one.get("_id") in times and isinstance(parent := one.get("parent_response_id"), str)
    }
    leaf = max(reversed(times), key=lambda id_: time_key(times[id_]), default="")
    replaced = replaced_messages(times, parents, path_to(leaf, parents)) if parents else set()
    turns = Turns()
    for message in sorted(messages, key=lambda one: time_key(_time(one))):
        role = _ROLES.get(str(message.get("sender")).casefold(), "")
        id_ = text_or_none(message.get("_id")) or f"{chat}:{_time(message)}"
        turn = turns.of(role, id_)
        metadata = {"title": conversation.get("title"), "on_current_path": id_ not in replaced}
        question = turns.question if role == ASSISTANT else None
        yield _Message({**message, "_id": id_}, chat, turn, question, metadata, id_ in replaced)


def _time(message: Mapping[str, Any]) -> str | int | None:
    """Return the time of a message: a text, or a date as MongoDB writes it."""
    at = message.get("create_time")
    if isinstance(at, dict):
        at = at.get("$date")
    if isinstance(at, dict):
        number = str(at.get("$numberLong"))
        return int(number) if number.isdecimal() else None
    return parse_time(at)


def _events(message: _Message) -> Iterator[InboundEvent]:
    raw = message.raw
    role = _ROLES.get(str(raw.get("sender")).casefold())
    if role is None:
        raise InvalidInput(f"a message with the unknown sender {str(raw.get('sender'))[:60]!r}")
    text = without_injected(text_or_none(raw.get("message")) or "")
    if not text:
        return
    event = message_event(
        _PLATFORM,
        role,
        text,
        _time(raw),
        id=f"{message.chat}:{raw['_id']}",
        chat=message.chat,
        turn=f"{message.chat}:{message.turn}",
        name=_NAME if role == ASSISTANT else None,
        reply_to=f"{message.chat}:{message.question}" if message.question else None,
        metadata=message.metadata,
    )
    if message.replaced:
        # The deletion comes first, so that no facts are taken from the message even for a moment.
        yield deletion_event(event)
    yield event


ADAPTER = Adapter(
    _PLATFORM,
    _recognises,
    lambda entry, options: SingleFileSource(entry, _parse, revisable="growing"),
)
