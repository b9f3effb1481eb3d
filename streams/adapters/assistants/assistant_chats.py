"""Functions for all exports of assistant chats: times, messages, notes, conversations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, ParseResult, convert, read_all
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    MalformedRecord,
    event_fields,
)
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items

M = TypeVar("M")

_CONVERSATIONS_OBJECT = re.compile(rb'\{\s*"conversations"\s*:\s*\[')


def time_key(at: str | int | None) -> float:
    """Return a sort key for times; a missing time sorts first."""
    if isinstance(at, int):
        return at / 1000
    try:
        return datetime.fromisoformat(at).timestamp() if at else 0.0
    except ValueError:
        return 0.0


class Turns:
    """The turns of a conversation without branches; consecutive questions are answered together."""

    def __init__(self) -> None:
        self._turn: str | None = None
        self._answered = False
        #: The id of the last question.
        self.question: str | None = None

    def of(self, role: str, id: str) -> str:
        """Return the turn of the next message: the id of its first question."""
        if role == ASSISTANT:
            self._answered = True
        else:
            if self._turn is None or self._answered:
                self._turn = id
            self.question, self._answered = id, False
        return self._turn or id

    def end(self) -> str | None:
        """End the turn; return it, or None if it has no answer."""
        turn = self._turn if self._answered else None
        if turn is not None:
            self._turn = None
        return turn


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
    """Return the event of a user's or an assistant's message; see `event_fields`.

    Raises:
        InvalidInput: the time is unknown.
    """
    try:
        fields = event_fields(
            platform,
            role,
            content,
            at,
            id=id,
            chat=chat,
            turn=turn,
            name=name,
            ends_turn=ends_turn,
            reply_to=reply_to,
            attachments=attachments,
            metadata=metadata,
        )
    except MalformedRecord as error:
        raise InvalidInput(str(error)) from None
    return InboundEvent(**fields)


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
    """Return the event of a note that an assistant wrote about its user.

    It can be searched, but no facts are extracted from it. `thread` separates it from
    conversations. `more`: further fields of the event.

    Raises:
        InvalidInput: the time is unknown.
    """
    event = message_event(
        platform, ASSISTANT, content, at, id=id, chat=None, turn="", name=name, ends_turn=False
    )
    return msgspec.structs.replace(event, turn_id=None, thread_id=thread, **more)


def deletion_event(event: InboundEvent) -> InboundEvent:
    """Return the deletion of a message that is not on the branch that its chat shows.

    Editing a message, or having an answer written again, begins a new branch.

    The deletion has the time of the message, so that the message never takes effect.
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
        parsed = read_all(messages, conversation)
        if isinstance(parsed, InvalidInput):
            yield number, parsed
            continue
        yield from convert(((number, message) for message in parsed), events)


def size_or_none(value: object) -> int | None:
    """Return a size in bytes, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
