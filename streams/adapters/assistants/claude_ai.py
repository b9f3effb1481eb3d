"""claude.ai's export: conversations with the messages of a person and of Claude.

Memories and projects become notes: Claude wrote the memories, and the user wrote the projects for
Claude to read.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.assistants.assistant_chats import (
    conversation_events,
    deletion_event,
    message_event,
    note_event,
    size_or_none,
    time_key,
)
from recollect.streams.adapters.assistants.branches import path_to, replaced_messages
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    USER,
    dict_or_empty,
    list_or_empty,
    parse_time,
    text_or_none,
    without_injected,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items

Reader = Callable[[InputEntry], Iterator[tuple[int, ParseResult]]]

_PLATFORM = "claude"
_NAME = "Claude"
_MESSAGES = re.compile(rb'"chat_messages"\s*:\s*\[')
_MEMORIES = re.compile(rb'"(?:conversations_memory|project_memories)"\s*:')
_PROJECT_KEYS = re.compile(rb'"(prompt_template|is_starter_project|is_private|docs)"\s*:')
_ROLES = {"human": USER, "user": USER, "assistant": ASSISTANT}
# Blocks with text of the conversation; other blocks are reasoning, tools and their results.
_TEXT_BLOCK_TYPES = frozenset({"text", "voice_note"})
# The tool with which Claude writes documents beside the conversation, and changes them.
_ARTIFACTS = "artifacts"


class _PlacedMessage(NamedTuple):
    """A message with its time and turn; `raw` is the message as exported."""

    raw: object
    at: str | int | None
    chat: str | None
    turn: str | None
    question: str | None
    metadata: dict[str, Any]
    replaced: bool = False


class _OpenTurn(NamedTuple):
    """The turn that a message leaves open for the next messages."""

    turn: str
    question: str
    answered: bool = False


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith((b"[", b"{")) and _reader_of(head) is not None


def _reader_of(head: bytes) -> Reader | None:
    """Return the reader of a file with this beginning: conversations, memories or projects."""
    if _MESSAGES.search(head):
        return lambda entry: conversation_events(entry, _messages, _events)
    if _MEMORIES.search(head):
        return lambda entry: convert(_values(entry), partial(_memories, entry.modified_at))
    if b'"uuid"' in head and len(set(_PROJECT_KEYS.findall(head))) > 1:
        return lambda entry: convert(_values(entry), _project)
    return None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    reader = _reader_of(entry.start())
    return conversation_events(entry, _messages, _events) if reader is None else reader(entry)


def _values(entry: InputEntry) -> Iterator[tuple[int, Any]]:
    """Yield the values of a file, which is either an array of values or a single value."""
    start = entry.start().removeprefix(BYTE_ORDER_MARK).lstrip()
    return items(entry, "item" if start.startswith(b"[") else "")


def _memories(modified_at: datetime | None, value: object) -> Iterator[InboundEvent]:
    """Yield Claude's memories of its user: from all conversations, and from those of each project.

    The file contains no times, so the day on which it was modified is used. The time of day would
    not be stable: archives round it, and time zones shift it.
    """
    raw = dict_or_empty(value)
    notes = {"memory": raw.get("conversations_memory")}
    for project, memory in dict_or_empty(raw.get("project_memories")).items():
        notes[f"project:{project}"] = memory
    for thread, memory in notes.items():
        if (text := text_or_none(memory)) is None:
            continue
        if modified_at is None:
            raise InvalidInput(
                "Claude's memories contain no times, so they get the file's modification time; "
                "import them as a file, a folder or a zip, not from standard input"
            )
        day = f"{modified_at.date().isoformat()}T00:00:00Z"
        yield _note(f"{thread}:memory", thread, text, day)


def _project(value: object) -> Iterator[InboundEvent]:
    """Yield a project's description and instructions, with the names of its files."""
    raw = dict_or_empty(value)
    parts = (text_or_none(raw.get(key)) for key in ("name", "description", "prompt_template"))
    text = "\n\n".join(part.strip() for part in parts if part)
    files = [
        Attachment(name=text_or_none(one.get("filename")))
        for one in map(dict_or_empty, list_or_empty(raw.get("docs")))
    ]
    id = text_or_none(raw.get("uuid"))
    if not text or id is None or raw.get("is_starter_project") is True:
        return
    at = parse_time(raw.get("updated_at")) or parse_time(raw.get("created_at"))
    yield _note(f"project:{id}:{at}", f"project:{id}", text, at, tuple(files))


def _note(
    id: str, thread: str, text: str, at: str | int | None, files: tuple[Attachment, ...] = ()
) -> InboundEvent:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
    return note_event(
        _PLATFORM,
        _NAME,
        text,
        at,
        id=f"{id}:{digest}",
        thread=thread,
        attachments=files,
        metadata={"noted": thread.partition(":")[0]},
    )


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
    off_path = _replaced(raw.get("current_leaf_message_uuid"), messages)
    open_turns: dict[str, _OpenTurn] = {}
    last: _OpenTurn | None = None
    for number, message in enumerate(messages):
        fields = dict_or_empty(message)
        id = text_or_none(fields.get("uuid"))
        at = parse_time(fields.get("created_at")) or at
        parent = fields.get("parent_message_uuid")
        parent_turn = open_turns.get(parent, last) if isinstance(parent, str) else last
        own_id = id or f"{chat or ''}:{number}"
        role = _ROLES.get(str(fields.get("sender")))
        question = None
        if role == USER:
            # Consecutive questions are answered together.
            turn = own_id if parent_turn is None or parent_turn.answered else parent_turn.turn
            last = _OpenTurn(turn, own_id)
        else:
            turn = own_id if parent_turn is None else parent_turn.turn
            question = None if parent_turn is None else parent_turn.question
            last = _OpenTurn(turn, question or own_id, answered=True)
        open_turns[own_id] = last
        metadata = {"title": title, "on_current_path": id not in off_path}
        yield _PlacedMessage(message, at, chat, turn, question, metadata, id in off_path)


def _replaced(leaf: object, messages: list[Any]) -> set[str]:
    """Return the messages on branches other than the current one.

    `leaf`: the current message. If the export does not name it, the newest message is used.
    """
    identified = [one for one in map(dict_or_empty, messages) if text_or_none(one.get("uuid"))]
    times = {one["uuid"]: parse_time(one.get("created_at")) for one in identified}
    parents = {
        one["uuid"]: parent
        for one in identified
        if isinstance(parent := one.get("parent_message_uuid"), str)
    }
    if not isinstance(leaf, str) or leaf not in times:
        # Of several with the same time, take the last one.
        leaf = max(reversed(times), key=lambda id: time_key(times[id]), default="")
    return replaced_messages(times, parents, path_to(leaf, parents))


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
    event = message_event(
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
    if message.replaced:
        # The deletion comes first, so that no facts are taken from the message even for a moment.
        yield deletion_event(event)
    yield event


def _text(raw: Mapping[str, Any]) -> str:
    """Return a message's text: the text of its blocks or, if it has none, its `text` field.

    For older versions, the field repeats the blocks, with a placeholder for each unsupported block.
    """
    blocks = [dict_or_empty(block) for block in list_or_empty(raw.get("content"))]
    if not any(blocks):
        return text_or_none(raw.get("content")) or text_or_none(raw.get("text")) or ""
    texts: list[object] = []
    for block in blocks:
        if block.get("type", "text") in _TEXT_BLOCK_TYPES:
            texts.append(block.get("text"))
        elif block.get("type") == "tool_use" and block.get("name") == _ARTIFACTS:
            artifact = dict_or_empty(block.get("input"))
            texts += [artifact.get(name) for name in ("title", "content", "new_str")]
    return "\n\n".join(text.strip() for text in texts if isinstance(text, str) and text.strip())


def _files(raw: Mapping[str, Any]) -> Iterator[Attachment]:
    """Yield the files of a message, without the text extracted from them."""
    seen: set[str] = set()
    for field in ("attachments", "files", "files_v2"):
        for file in map(dict_or_empty, list_or_empty(raw.get(field))):
            name = text_or_none(file.get("file_name"))
            id = text_or_none(file.get("file_uuid")) or text_or_none(file.get("id"))
            key = id or name
            if not file or (key is not None and key in seen):
                continue
            seen.add(key or "")
            kind = text_or_none(file.get("file_type")) or text_or_none(file.get("file_kind"))
            yield Attachment(
                type="image" if (kind or "").startswith("image") else "file",
                name=name,
                mime_type=kind if kind and "/" in kind else None,
                size=size_or_none(file.get("file_size", file.get("size_bytes"))),
            )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse, revisable="growing")


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
