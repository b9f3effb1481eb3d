"""claude.ai's export: conversations with the messages of a person and of Claude."""

from __future__ import annotations

import re
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
)
from recollect.streams.adapters.assistants.assistant_chats import (
    ASSISTANT,
    USER,
    conversation_events,
    dict_or_empty,
    list_or_empty,
    message_event,
    parse_time,
    size_or_none,
    text_or_none,
    without_injected,
)
from recollect.streams.adapters.input.input_files import InputEntry

_PLATFORM = "claude"
_NAME = "Claude"
_MESSAGES = re.compile(rb'"chat_messages"\s*:\s*\[')
_ROLES = {"human": USER, "user": USER, "assistant": ASSISTANT}
# Blocks with spoken text; others are reasoning, tools and their results.
_SPOKEN_TYPES = frozenset({"text", "voice_note"})


class _PlacedMessage(NamedTuple):
    """A message with its time and turn; `raw` is as exported."""

    raw: object
    at: str | int | None
    chat: str | None
    turn: str | None
    question: str | None
    metadata: dict[str, Any]


class _OpenTurn(NamedTuple):
    """The turn that a message leaves open for the next ones."""

    turn: str
    question: str
    answered: bool = False


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith((b"[", b"{")) and bool(_MESSAGES.search(head))


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    return conversation_events(entry, _messages, _events)


def _messages(conversation: object) -> Iterator[_PlacedMessage]:
    """Return the messages of a conversation, each in the turn of its question.

    Raises:
        InvalidInput: it is not a conversation.
    """
    raw = dict_or_empty(conversation)
    messages = raw.get("chat_messages")
    if not isinstance(messages, list):
        raise InvalidInput("not a claude.ai conversation: it has no chat_messages")
    return _place_in_turns(raw, messages)


def _place_in_turns(raw: Mapping[str, Any], messages: list[Any]) -> Iterator[_PlacedMessage]:
    chat = text_or_none(raw.get("uuid"))
    title = text_or_none(raw.get("name"))
    at = parse_time(raw.get("created_at"))
    parents = {
        str(one["uuid"]): one.get("parent_message_uuid")
        for one in map(dict_or_empty, messages)
        if one.get("uuid")
    }
    path = _path(raw.get("current_leaf_message_uuid"), parents)
    open_turns: dict[str, _OpenTurn] = {}
    last: _OpenTurn | None = None
    for number, message in enumerate(messages):
        given = dict_or_empty(message)
        id = text_or_none(given.get("uuid"))
        at = parse_time(given.get("created_at")) or at
        parent = given.get("parent_message_uuid")
        parent_turn = open_turns.get(parent, last) if isinstance(parent, str) else last
        own = id or f"{chat or ''}:{number}"
        role = _ROLES.get(str(given.get("sender")))
        question = None
        if role == USER:
            # Consecutive questions are answered together.
            turn = own if parent_turn is None or parent_turn.answered else parent_turn.turn
            last = _OpenTurn(turn, own)
        else:
            turn = own if parent_turn is None else parent_turn.turn
            question = None if parent_turn is None else parent_turn.question
            last = _OpenTurn(turn, question or own, answered=True)
        open_turns[own] = last
        metadata: dict[str, Any] = {"title": title}
        if path and id is not None:
            metadata["on_current_path"] = id in path
        yield _PlacedMessage(message, at, chat, turn, question, metadata)


def _path(leaf: object, parents: Mapping[str, Any]) -> set[str]:
    """Return the messages from the current one up; none if the export does not name it."""
    path: set[str] = set()
    while isinstance(leaf, str) and leaf in parents and leaf not in path:
        path.add(leaf)
        leaf = parents[leaf]
    return path


def _events(message: _PlacedMessage) -> Iterator[InboundEvent]:
    raw = message.raw
    if not isinstance(raw, dict):
        raise InvalidInput("a message that is not a JSON object")
    role = _ROLES.get(str(raw.get("sender")))
    if role is None:
        raise InvalidInput(f"a message with the unknown sender {str(raw.get('sender'))[:60]!r}")
    text = without_injected(_text(raw))
    attachments = tuple(_files(raw))
    if not text and not attachments:
        return
    yield message_event(
        _PLATFORM,
        role,
        text,
        message.at,
        id=text_or_none(raw.get("uuid")),
        chat=message.chat,
        turn=message.turn or "",
        name=_NAME if role == ASSISTANT else None,
        reply_to=message.question,
        attachments=attachments,
        metadata=message.metadata,
    )


def _text(raw: Mapping[str, Any]) -> str:
    """Return a message's text: that of its blocks, or without blocks its `text` field.

    The field repeats the blocks for older versions, with a placeholder for each unsupported one.
    """
    blocks = [dict_or_empty(block) for block in list_or_empty(raw.get("content"))]
    if not any(blocks):
        return text_or_none(raw.get("content")) or text_or_none(raw.get("text")) or ""
    texts = [block.get("text") for block in blocks if block.get("type", "text") in _SPOKEN_TYPES]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _files(raw: Mapping[str, Any]) -> Iterator[Attachment]:
    """Yield the files of a message, without the text extracted from them."""
    seen: set[str] = set()
    for field in ("attachments", "files", "files_v2"):
        for given in map(dict_or_empty, list_or_empty(raw.get(field))):
            name = text_or_none(given.get("file_name"))
            id = text_or_none(given.get("file_uuid")) or text_or_none(given.get("id"))
            key = id or name
            if not given or (key is not None and key in seen):
                continue
            seen.add(key or "")
            kind = text_or_none(given.get("file_type")) or text_or_none(given.get("file_kind"))
            yield Attachment(
                type="image" if (kind or "").startswith("image") else "file",
                name=name,
                mime_type=kind if kind and "/" in kind else None,
                size=size_or_none(given.get("file_size", given.get("size_bytes"))),
            )


ADAPTER = Adapter(_PLATFORM, _recognises, lambda entry, options: SingleFileSource(entry, _parse))
