"""ChatGPT's export: conversations, each a tree of messages with all regenerated or edited branches.

All branches are imported; `metadata["on_current_path"]` marks the one that ChatGPT shows. For each
message of the other branches, a deletion is imported too. ChatGPT's memories of its user, and the
user's profile, become notes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import msgspec

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
from recollect.streams.adapters.assistants.chatgpt_marks import labels, without_marks
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
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry

_PLATFORM = "chatgpt"
_NAME = "ChatGPT"
_MAPPING = re.compile(rb'"mapping"\s*:\s*\{')
_NODE_KEYS = re.compile(rb'"(?:children|parent|author|message)"\s*:')
_CONVERSATION_KEYS = re.compile(rb'"(?:current_node|create_time|conversation_id)"\s*:')
_TEXT_TYPES = frozenset({"text", "multimodal_text", "audio_transcription"})
# Tools with which ChatGPT stores memories of its user.
_NOTING_TOOLS = frozenset({"bio", "bio.update"})
# The beginning of the names of tools that write documents beside the conversation.
_CANVAS = "canmore."
_CONTEXT_TYPES = frozenset({"user_editable_context", "model_editable_context"})
# The user's profile, and ChatGPT's memories, one per line: "1. [2024-05-01]. …".
_MEMORY_FIELD = "model_set_context"
_PROFILE_FIELDS = ("user_profile", "user_instructions", _MEMORY_FIELD)
_DATED_NOTE = re.compile(r"^\s*\d+\.\s*\[(\d{4}-\d{2}-\d{2})\][.:]?[ \t]*(\S.*)$", re.MULTILINE)
_MAX_NOTES = 10_000
_MAX_NOTES_LENGTH = 1 << 24
_FAMILIES = ("image", "audio", "video")
# Content that is not part of a conversation: tools and their results, reasoning, added context.
_SILENT_TYPES = frozenset(
    {"code", "execution_output", "computer_output", "citable_code_output", "system_error"}
    | {"tether_quote", "tether_browsing_code", "tether_browsing_display", "sonic_webpage"}
    | {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
    | {"app_pairing_content", "super_widget", "stderr", "canvas"}
)


class _ParsedMessage(NamedTuple):
    """The content of a message.

    `hidden`: ChatGPT never shows it. `noted`: the tool with which ChatGPT stored it as a memory.
    """

    role: str
    text: str
    attachments: tuple[Attachment, ...] = ()
    ends_turn: bool = False
    hidden: bool = False
    noted: str | None = None


class _ParentContext(NamedTuple):
    """The values that a node inherits from its parent: times, and the turn that it belongs to."""

    at: str | int | None
    order: float
    turn: str | None = None
    question: str | None = None
    answered: bool = False


class _PlacedMessage(NamedTuple):
    """A message with its time and turn."""

    id: str
    parsed: _ParsedMessage | InvalidInput
    at: str | int | None
    turn: str
    question: str | None
    chat: str
    metadata: dict[str, Any]
    replaced: bool = False


class _Profile:
    """The distinct notes that ChatGPT repeats in its conversations, with their first times.

    Their number and size are limited, since a hostile export may have one for every message.
    `dropped` counts the notes beyond the limits.
    """

    def __init__(self) -> None:
        self._notes: dict[tuple[str, str], str | int] = {}
        self._size = 0
        self.dropped = 0

    def add(self, content: Mapping[str, Any], at: str | int | None) -> None:
        """Add the notes of a message that is put before a conversation."""
        for name in _PROFILE_FIELDS:
            if (text := text_or_none(content.get(name))) is None:
                continue
            dated = _DATED_NOTE.findall(text) if name == _MEMORY_FIELD else []
            for day, note in dated or [("", text)]:
                key, time = (name, note.strip()), f"{day}T00:00:00Z" if day else at
                if time is None:
                    continue
                if key not in self._notes:
                    if len(self._notes) >= _MAX_NOTES or self._size > _MAX_NOTES_LENGTH:
                        self.dropped += 1
                        continue
                    self._size += len(key[1])
                self._notes[key] = min(self._notes.get(key, time), time, key=time_key)

    def events(self) -> Iterator[InboundEvent]:
        """Yield the notes in order of time."""
        for (name, text), at in sorted(self._notes.items(), key=lambda one: time_key(one[1])):
            digest = hashlib.sha256(f"{name}\x1f{at}\x1f{text}".encode("utf-8", "replace"))
            yield note_event(
                _PLATFORM,
                _NAME,
                text,
                at,
                id=f"{name}:{digest.hexdigest()[:32]}",
                thread=name,
                metadata={"noted": name},
            )


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not head.startswith((b"[", b"{")) or not _MAPPING.search(head):
        return False
    return bool(_NODE_KEYS.search(head) or _CONVERSATION_KEYS.search(head))


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    profile = _Profile()
    number = 1
    damage: DamagedInput | None = None
    try:
        for number, event in conversation_events(entry, partial(_messages, profile), _events):
            yield number, event
    except DamagedInput as error:
        damage = error
    yield from convert([(number, profile)], _Profile.events)
    if profile.dropped:
        yield (
            number,
            InvalidInput(
                f"{profile.dropped} notes were dropped: only the first {_MAX_NOTES:,} are imported"
            ),
        )
    if damage is not None:
        raise damage


def _messages(profile: _Profile, conversation: object) -> list[_PlacedMessage]:
    """Return the messages of a conversation in order of time, answers after their questions.

    The notes in it are added to `profile`.

    Raises:
        InvalidInput: it is not a conversation.
    """
    raw = dict_or_empty(conversation)
    nodes = raw.get("mapping")
    if not isinstance(nodes, dict):
        raise InvalidInput("not a ChatGPT conversation: it has no mapping of its messages")
    if raw.get("is_do_not_remember") is True or raw.get("is_temporary_chat") is True:
        return []
    chat = text_or_none(raw.get("conversation_id")) or text_or_none(raw.get("id"))
    chat = chat or next(iter(nodes), "")
    title = text_or_none(raw.get("title"))
    parents, children = _tree(nodes)
    start = _start(raw, nodes)
    path = path_to(_leaf(raw.get("current_node"), nodes), parents)
    off_path = replaced_messages(nodes, parents, path)
    sortable: list[tuple[float, int, _PlacedMessage]] = []
    seen: set[str] = set()
    # First the trees below nodes without a parent. The remaining nodes form cycles, which are
    # entered at any of their nodes.
    for root in (*(id for id in nodes if id not in parents), *nodes):
        pending = [(root, _ParentContext(start, time_key(start)))]
        while pending:
            id, parent_context = pending.pop()
            if id in seen:
                continue
            seen.add(id)
            message = dict_or_empty(dict_or_empty(nodes[id]).get("message"))
            at = parse_time(message.get("create_time")) or parent_context.at
            order = max(parent_context.order, time_key(at))
            parent_context = parent_context._replace(at=at, order=order)
            parsed = _parse_message(message)
            if parsed is None:
                profile.add(_context(message), at)
            else:
                message_id = f"{chat}:{text_or_none(message.get('id')) or id}"
                placed, parent_context = _place_in_turn(message_id, parsed, parent_context, chat)
                placed.metadata.update(_metadata(message, title, id not in off_path))
                sortable.append((order, len(sortable), placed._replace(replaced=id in off_path)))
            pending += [(child, parent_context) for child in reversed(children.get(id, ()))]
    return [placed for *_, placed in sorted(sortable, key=lambda one: one[:2])]


def _place_in_turn(
    id: str, parsed: _ParsedMessage | InvalidInput, parent_context: _ParentContext, chat: str
) -> tuple[_PlacedMessage, _ParentContext]:
    """Return a message in its turn, and the context of its children."""
    turn, question = parent_context.turn or id, parent_context.question
    if isinstance(parsed, _ParsedMessage) and not parsed.hidden and parsed.noted is None:
        if parsed.role == USER:
            # Consecutive questions are answered together.
            turn = turn if parent_context.turn and not parent_context.answered else id
            parent_context = parent_context._replace(turn=turn, question=id, answered=False)
            question = None
        else:
            parent_context = parent_context._replace(turn=turn, answered=True)
    return _PlacedMessage(id, parsed, parent_context.at, turn, question, chat, {}), parent_context


def _events(message: _PlacedMessage) -> Iterator[InboundEvent]:
    parsed = message.parsed
    if isinstance(parsed, InvalidInput):
        raise parsed
    event = _event(message, parsed)
    if message.replaced and event.kind != "notice":
        # The deletion comes first, so that no facts are taken from the message even for a moment.
        yield deletion_event(event)
    yield event


def _event(message: _PlacedMessage, parsed: _ParsedMessage) -> InboundEvent:
    if parsed.noted is not None:
        return note_event(
            _PLATFORM,
            _NAME,
            parsed.text,
            message.at,
            id=message.id,
            thread=parsed.noted,
            peer_id=message.chat,
            peer_kind="dm",
            metadata={**message.metadata, "noted": parsed.noted},
        )
    answer = parsed.role == ASSISTANT
    event = message_event(
        _PLATFORM,
        parsed.role,
        parsed.text,
        message.at,
        id=message.id,
        chat=message.chat,
        turn=message.turn,
        name=_NAME if answer else None,
        ends_turn=parsed.ends_turn,
        reply_to=message.question if answer else None,
        attachments=parsed.attachments,
        metadata=message.metadata,
    )
    if parsed.hidden:
        # It is kept as a notice, because it was never shown.
        metadata = {**event.metadata, "hidden": True}
        return msgspec.structs.replace(event, kind="notice", turn_id=None, metadata=metadata)
    return event


def _tree(nodes: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the parent and the children of each node, as far as they exist."""
    listed = {
        child: id
        for id, node in nodes.items()
        for child in list_or_empty(dict_or_empty(node).get("children"))
        if isinstance(child, str) and child in nodes and child != id
    }
    parents: dict[str, str] = {}
    for id, node in nodes.items():
        parent = dict_or_empty(node).get("parent")
        if isinstance(parent, str) and parent in nodes and parent != id:
            parents[id] = parent
        elif id in listed:
            parents[id] = listed[id]
    children: dict[str, list[str]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    return parents, children


def _leaf(current: object, nodes: Mapping[str, Any]) -> str:
    """Return the node whose branch ChatGPT shows: the one that the export names, or the newest."""
    if isinstance(current, str) and current in nodes:
        return current
    times = {
        id: time_key(
            parse_time(dict_or_empty(dict_or_empty(node).get("message")).get("create_time"))
        )
        for id, node in nodes.items()
    }
    # Of several with the same time, take the last one.
    return max(reversed(times), key=lambda id: times[id], default="")


def _start(raw: Mapping[str, Any], nodes: Mapping[str, Any]) -> str | int | None:
    """Return when a conversation began; later exports give the same time."""
    if (created_at := parse_time(raw.get("create_time"))) is not None:
        return created_at
    messages = (dict_or_empty(dict_or_empty(node).get("message")) for node in nodes.values())
    times = [
        at for message in messages if (at := parse_time(message.get("create_time"))) is not None
    ]
    return min(times, key=time_key, default=parse_time(raw.get("update_time")))


def _metadata(message: Mapping[str, Any], title: str | None, current: bool) -> dict[str, Any]:
    model = text_or_none(dict_or_empty(message.get("metadata")).get("model_slug"))
    found = {"title": title, "model": model, "on_current_path": current}
    return {name: value for name, value in found.items() if value is not None}


def _context(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a message that ChatGPT puts before a conversation, or {}."""
    content = dict_or_empty(message.get("content"))
    private = dict_or_empty(message.get("metadata")).get("is_do_not_remember") is True
    is_context = text_or_none(content.get("content_type")) in _CONTEXT_TYPES
    return content if is_context and not private else {}


def _parse_message(message: Mapping[str, Any]) -> _ParsedMessage | InvalidInput | None:
    """Return the content of a message, or None if it is not part of the conversation."""
    role = dict_or_empty(message.get("author")).get("role")
    content = dict_or_empty(message.get("content"))
    metadata = dict_or_empty(message.get("metadata"))
    kind = content.get("content_type", "text")
    kind = kind if isinstance(kind, str) else str(kind)
    recipient = text_or_none(message.get("recipient"))
    if metadata.get("is_do_not_remember") is True:
        return None
    if role == ASSISTANT and recipient in _NOTING_TOOLS:
        text = "\n".join(_parts(content, metadata)[0]).strip()
        return _ParsedMessage(role, text, noted=recipient) if text else None
    if role == ASSISTANT and (recipient or "").startswith(_CANVAS):
        text = _canvas_text("".join(_parts(content, metadata)[0]))
        return _ParsedMessage(role, text) if text else None
    if role not in (USER, ASSISTANT) or kind in _SILENT_TYPES:
        if role is None and _parts(content, metadata)[0]:
            return InvalidInput("a message without an author")
        known = role in (None, "system", "tool", "developer") or kind in _SILENT_TYPES
        return (
            None if known else InvalidInput(f"a message with the unknown role {str(role)[:60]!r}")
        )
    if kind not in _TEXT_TYPES:
        return InvalidInput(f"a message with the unknown content_type {str(kind)[:60]!r}")
    if metadata.get("is_user_system_message"):
        return None
    if role == ASSISTANT and not _is_answer(message, metadata):
        return None
    texts, attachments = _parts(content, metadata)
    shown = without_marks("\n".join(texts), labels(metadata.get("content_references")))
    text = without_injected(shown)
    if not text and not attachments:
        return None
    return _ParsedMessage(
        role,
        text,
        attachments,
        ends_turn=message.get("end_turn") is not False,
        hidden=bool(metadata.get("is_visually_hidden_from_conversation")),
    )


def _canvas_text(call: str) -> str:
    """Return what ChatGPT writes in a document beside the conversation: all of it, or a change."""
    try:
        fields = dict_or_empty(msgspec.json.decode(call))
    except (msgspec.DecodeError, RecursionError):
        return ""
    texts = [fields.get("name"), fields.get("content")]
    for name, key in (("updates", "replacement"), ("comments", "comment")):
        texts += [dict_or_empty(one).get(key) for one in list_or_empty(fields.get(name))]
    return "\n\n".join(text.strip() for one in texts if (text := text_or_none(one)))


def _is_answer(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Return whether an assistant's message is for the user, not for a tool or itself."""
    if message.get("recipient") not in (None, "", "all", "user"):
        return False
    return message.get("channel") != "analysis" and metadata.get("channel") != "analysis"


def _parts(
    content: Mapping[str, Any], metadata: Mapping[str, Any]
) -> tuple[list[str], tuple[Attachment, ...]]:
    """Return the texts and the files of a message."""
    texts: list[str] = []
    uploads = {
        str(upload.get("id")): upload
        for upload in map(dict_or_empty, list_or_empty(metadata.get("attachments")))
    }
    files: list[Attachment] = []
    for part in (*list_or_empty(content.get("parts")), content.get("text")):
        if isinstance(part, str):
            texts.append(part)
            continue
        fields = dict_or_empty(part)
        pointer = text_or_none(fields.get("asset_pointer"))
        kind = str(fields.get("content_type") or "file")
        if isinstance(fields.get("text"), str):
            texts.append(fields["text"])
        elif fields:
            family = next((name for name in _FAMILIES if name in kind), "file")
            upload = uploads.pop((pointer or "").rpartition("/")[2], {})
            files.append(_file(upload or fields, family, pointer))
    return [text for text in texts if text.strip()], (
        *files,
        *(_file(upload, _type_of(upload)) for upload in uploads.values()),
    )


def _type_of(upload: Mapping[str, Any]) -> str:
    family = (text_or_none(upload.get("mime_type")) or "").partition("/")[0]
    return family if family in _FAMILIES else "file"


def _file(fields: Mapping[str, Any], type_: str, pointer: str | None = None) -> Attachment:
    size = fields.get("size", fields.get("size_bytes"))
    mime = fields.get("mime_type", fields.get("mimeType"))
    return Attachment(
        type=type_,
        name=text_or_none(fields.get("name")) or (pointer or "").rpartition("/")[2] or None,
        mime_type=text_or_none(mime),
        size=size_or_none(size),
    )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse, revisable="growing")


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
