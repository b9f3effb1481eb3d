"""Shared by exports of assistant chats: roles, turns, and the removal of injected context."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, ParseResult, convert
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items

M = TypeVar("M")

USER = "user"
ASSISTANT = "assistant"

# Context that recollect's hooks put before a prompt. An unclosed block extends to the end.
_INJECTED = re.compile(
    r"<memory_context\b.*?(?:</memory_context\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
# A larger number counts milliseconds: in seconds it would be the year 5138.
_MAX_SECONDS = 100_000_000_000
_CONVERSATIONS_OBJECT = re.compile(rb'\{\s*"conversations"\s*:\s*\[')


def without_injected(text: str) -> str:
    """Return a text without the context that recollect injected."""
    return _INJECTED.sub("", text).strip()


def parse_time(value: object) -> str | int | None:
    """Return a time in the form of an event, or None if there is none. A text without a zone is
    UTC.
    """
    if isinstance(value, bool) or not value:
        return None
    if isinstance(value, int | float):
        return round(value if value >= _MAX_SECONDS else value * 1000)
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return value
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


def time_key(at: str | int | None) -> float:
    """Return a sort key for times; no time comes first."""
    if isinstance(at, int):
        return at / 1000
    try:
        return datetime.fromisoformat(at).timestamp() if at else 0.0
    except ValueError:
        return 0.0


def message_event(
    platform: str,
    role: str,
    content: str,
    at: str | int | None,
    *,
    id: str | None,
    chat: str | None,
    turn: str,
    name: str | None = None,
    ends_turn: bool = True,
    reply_to: str | None = None,
    attachments: tuple[Attachment, ...] = (),
    metadata: Mapping[str, Any] | None = None,
) -> InboundEvent:
    """Return the event of a user's or an assistant's message.

    `ends_turn`: the record says that the assistant's turn ends with it. A question has no turn, so
    that it is decided at once, whether an answer came or not.

    Raises:
        InvalidInput: the time is unknown.
    """
    if at is None:
        raise InvalidInput("this message has no time, and none before it has one")
    answer = role == ASSISTANT
    return InboundEvent(
        platform=platform,
        sender_id=role,
        sender_name=name,
        # Assistants write all times in UTC, wherever their user is.
        occurred_at=re.sub(r"[+-]00:00$", "Z", at) if isinstance(at, str) else at,
        content=content,
        id=id,
        peer_id=chat,
        peer_kind="dm" if chat else None,
        direction="out" if answer else "in",
        kind="turn_completed" if answer and ends_turn else "message",
        turn_id=turn if answer else None,
        reply_to=reply_to,
        attachments=attachments,
        metadata={name: value for name, value in (metadata or {}).items() if value is not None},
    )


def note_event(
    platform: str,
    name: str,
    content: str,
    at: str | int | None,
    *,
    id: str,
    thread: str,
    **more: Any,
) -> InboundEvent:
    """Return the event of what an assistant noted about its user.

    It is searchable as the assistant's words, and nothing is concluded from it (F1). `thread` keeps
    it apart from what was said; `more` are further fields.

    Raises:
        InvalidInput: the time is unknown.
    """
    event = message_event(
        platform, ASSISTANT, content, at, id=id, chat=None, turn="", name=name, ends_turn=False
    )
    return msgspec.structs.replace(event, turn_id=None, thread_id=thread, **more)


def deletion_event(event: InboundEvent) -> InboundEvent:
    """Return the event that takes a message back, because another branch replaced it.

    It has the time of the message: what is taken back never held.
    """
    return InboundEvent(
        platform=event.platform,
        sender_id=event.sender_id,
        sender_name=event.sender_name,
        occurred_at=event.occurred_at,
        content="",
        id=f"{event.id}:replaced",
        peer_id=event.peer_id,
        peer_kind=event.peer_kind,
        kind="deletion",
        target=event.id,
    )


def conversation_events(
    entry: InputEntry,
    messages: Callable[[object], Iterable[M]],
    events: Callable[[M], Iterable[InboundEvent]],
) -> Iterator[tuple[int, ParseResult]]:
    """Yield the events of a file's conversations, each with the conversation's number.

    The file has an array of conversations, an object with that array, or a single conversation.

    `messages` splits a conversation into messages, and raises InvalidInput if it is not one.
    """
    start = entry.start().removeprefix(BYTE_ORDER_MARK).lstrip()
    prefix = "item" if start.startswith(b"[") else ""
    if _CONVERSATIONS_OBJECT.match(start):
        prefix = "conversations.item"
    for number, conversation in items(entry, prefix):
        try:
            found = messages(conversation)
        except InvalidInput as error:
            yield number, error
            continue
        yield from convert(((number, message) for message in found), events)


def text_or_none(value: object) -> str | None:
    """Return a text that is not blank, or None."""
    return value if isinstance(value, str) and value.strip() else None


def size_or_none(value: object) -> int | None:
    """Return a size in bytes, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def dict_or_empty(value: object) -> Mapping[str, Any]:
    """Return a JSON object; empty if it is anything else."""
    return value if isinstance(value, dict) else {}


def list_or_empty(value: object) -> list[Any]:
    """Return a JSON array; empty if it is anything else."""
    return value if isinstance(value, list) else []
