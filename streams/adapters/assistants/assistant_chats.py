"""What exports of chats with assistants share: who speaks, in which turn, and what nobody said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, Found, converted
from recollect.streams.adapters.input.input_files import Member
from recollect.streams.adapters.input.json_documents import items

M = TypeVar("M")

USER = "user"
ASSISTANT = "assistant"

# What our own hooks put before a prompt. A block that does not end takes the rest.
_INJECTED = re.compile(
    r"<memory_context\b.*?(?:</memory_context\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
# Above this, a number counts milliseconds: in seconds it would be the year 5138.
_MAX_SECONDS = 100_000_000_000
_CONVERSATIONS = re.compile(rb'\{\s*"conversations"\s*:\s*\[')


def without_injected(text: str) -> str:
    """Return a text without what recollect itself had put into it."""
    return _INJECTED.sub("", text).strip()


def moment(value: object) -> str | int | None:
    """Return a time as an event has it; None: it is none. A text without a zone is in UTC."""
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


def order_of(at: str | int | None) -> float:
    """Return a number that orders times; what is none comes first."""
    if isinstance(at, int):
        return at / 1000
    try:
        return datetime.fromisoformat(at).timestamp() if at else 0.0
    except ValueError:
        return 0.0


def spoken(
    platform: str,
    role: str,
    content: str,
    at: str | int | None,
    *,
    id: str | None,
    chat: str | None,
    turn: str,
    name: str | None = None,
    ends: bool = True,
    reply_to: str | None = None,
    attachments: tuple[Attachment, ...] = (),
    metadata: Mapping[str, Any] | None = None,
) -> InboundEvent:
    """Return what the user asked, or what the assistant answered.

    `ends`: the assistant says nothing more in its turn, as far as the record itself knows. A
    question is in no turn, so that what it says is decided at once, whether an answer came or not.

    Raises:
        InvalidInput: no time is known.
    """
    if at is None:
        raise InvalidInput("no time is known of this message, nor of any before it")
    answer = role == ASSISTANT
    return InboundEvent(
        platform=platform,
        sender_id=role,
        sender_name=name,
        occurred_at=at,
        content=content,
        id=id,
        peer_id=chat,
        peer_kind="dm" if chat else None,
        direction="out" if answer else "in",
        kind="turn_completed" if answer and ends else "message",
        turn_id=turn if answer else None,
        reply_to=reply_to,
        attachments=attachments,
        metadata={name: value for name, value in (metadata or {}).items() if value is not None},
    )


def found_in_conversations(
    member: Member,
    messages: Callable[[object], Iterable[M]],
    events: Callable[[M], Iterable[InboundEvent]],
) -> Iterator[tuple[int, Found]]:
    """Yield what the conversations of a file say, each with its number: an array of them, an object
    that holds one, or a single conversation.

    `messages` takes a conversation apart, and raises InvalidInput where it is none.
    """
    start = member.start().removeprefix(BYTE_ORDER_MARK).lstrip()
    prefix = "item" if start.startswith(b"[") else ""
    if _CONVERSATIONS.match(start):
        prefix = "conversations.item"
    for number, conversation in items(member, prefix):
        try:
            found = messages(conversation)
        except InvalidInput as error:
            yield number, error
            continue
        yield from converted(((number, message) for message in found), events)


def text_or_none(value: object) -> str | None:
    """Return a text that is one and not blank."""
    return value if isinstance(value, str) and value.strip() else None


def size_or_none(value: object) -> int | None:
    """Return a number of bytes, where it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def dict_or_empty(value: object) -> Mapping[str, Any]:
    """Return an object of JSON, empty where there is none."""
    return value if isinstance(value, dict) else {}


def list_or_empty(value: object) -> list[Any]:
    """Return an array of JSON, empty where there is none."""
    return value if isinstance(value, list) else []
