"""ChatGPT's export: conversations, each a tree of messages with all that was regenerated or edited.

All branches are kept; `metadata["on_current_path"]` says which of them ChatGPT shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, Adapter, Found, OneFile
from recollect.streams.adapters.assistants.assistant_chats import (
    ASSISTANT,
    USER,
    dict_or_empty,
    found_in_conversations,
    list_or_empty,
    moment,
    order_of,
    size_or_none,
    spoken,
    text_or_none,
    without_injected,
)
from recollect.streams.adapters.input.input_files import Member

_PLATFORM = "chatgpt"
_NAME = "ChatGPT"
_MAPPING = re.compile(rb'"mapping"\s*:\s*\{')
_NODE = re.compile(rb'"(?:children|parent|author|message)"\s*:')
_ASIDE = re.compile(rb'"(?:current_node|create_time|conversation_id)"\s*:')
_SPOKEN = frozenset({"text", "multimodal_text", "audio_transcription"})
# Tools, their results, reasoning, and what is put before a conversation.
_UNSPOKEN = frozenset(
    {"code", "execution_output", "computer_output", "citable_code_output", "system_error"}
    | {"tether_quote", "tether_browsing_code", "tether_browsing_display", "sonic_webpage"}
    | {"thoughts", "reasoning_recap", "user_editable_context", "model_editable_context"}
    | {"app_pairing_content", "super_widget", "stderr", "canvas"}
)
# Marks of citations, which only ChatGPT's own page shows as such.
_CITED = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")


class _Speech(NamedTuple):
    """What somebody says in a message; `hidden`: ChatGPT never shows it."""

    role: str
    text: str
    attachments: tuple[Attachment, ...]
    ends: bool
    hidden: bool


class _Above(NamedTuple):
    """What holds of a node's parent: times, and the turn that it belongs to."""

    at: str | int | None
    order: float
    turn: str | None = None
    question: str | None = None
    answered: bool = False


class _Placed(NamedTuple):
    """A message of a conversation, ready to become an event."""

    id: str
    speech: _Speech | InvalidInput
    at: str | int | None
    turn: str
    question: str | None
    chat: str
    metadata: dict[str, Any]


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not head.startswith((b"[", b"{")) or not _MAPPING.search(head):
        return False
    return bool(_NODE.search(head) or _ASIDE.search(head))


def _found(member: Member) -> Iterator[tuple[int, Found]]:
    return found_in_conversations(member, _messages, _events)


def _messages(conversation: object) -> list[_Placed]:
    """Return what a conversation says, in the order of time, an answer after its question.

    Raises:
        InvalidInput: it is no conversation.
    """
    raw = dict_or_empty(conversation)
    nodes = raw.get("mapping")
    if not isinstance(nodes, dict):
        raise InvalidInput("this is no conversation of ChatGPT: it has no mapping of its messages")
    if raw.get("is_do_not_remember") is True or raw.get("is_temporary_chat") is True:
        return []
    chat = text_or_none(raw.get("conversation_id")) or text_or_none(raw.get("id"))
    chat = chat or next(iter(nodes), "")
    title = text_or_none(raw.get("title"))
    parents, children = _tree(nodes)
    path = _path(raw.get("current_node"), parents)
    start = _start(raw, nodes)
    found: list[tuple[float, int, _Placed]] = []
    seen: set[str] = set()
    # Those without a parent first; what is left then hangs in a circle, and is taken as it stands.
    for root in (*(id for id in nodes if id not in parents), *nodes):
        below = [(root, _Above(start, order_of(start)))]
        while below:
            id, above = below.pop()
            if id in seen:
                continue
            seen.add(id)
            message = dict_or_empty(dict_or_empty(nodes[id]).get("message"))
            at = moment(message.get("create_time")) or above.at
            order = max(above.order, order_of(at))
            above = above._replace(at=at, order=order)
            speech = _speech(message)
            if speech is not None:
                own = f"{chat}:{text_or_none(message.get('id')) or id}"
                placed, above = _place(own, speech, above, chat)
                placed.metadata.update(_aside(message, title, id in path if path else None))
                found.append((order, len(found), placed))
            below += [(child, above) for child in reversed(children.get(id, ()))]
    return [placed for *_, placed in sorted(found, key=lambda one: one[:2])]


def _place(
    id: str, speech: _Speech | InvalidInput, above: _Above, chat: str
) -> tuple[_Placed, _Above]:
    """Return a message in its turn, and what it is to those below it."""
    turn, question = above.turn or id, above.question
    if isinstance(speech, _Speech) and not speech.hidden:
        if speech.role == USER:
            # Several questions in a row are answered together.
            turn = turn if above.turn and not above.answered else id
            above = above._replace(turn=turn, question=id, answered=False)
            question = None
        else:
            above = above._replace(turn=turn, answered=True)
    return _Placed(id, speech, above.at, turn, question, chat, {}), above


def _events(message: _Placed) -> Iterator[InboundEvent]:
    if isinstance(message.speech, InvalidInput):
        raise message.speech
    role, text, attachments, ends, hidden = message.speech
    event = spoken(
        _PLATFORM,
        role,
        text,
        message.at,
        id=message.id,
        chat=message.chat,
        turn=message.turn,
        name=_NAME if role == ASSISTANT else None,
        ends=ends,
        reply_to=message.question if role == ASSISTANT else None,
        attachments=attachments,
        metadata=message.metadata,
    )
    if hidden:
        # It is kept, but nobody said it where the other could see it.
        metadata = {**event.metadata, "hidden": True}
        event = msgspec.structs.replace(event, kind="notice", turn_id=None, metadata=metadata)
    yield event


def _tree(nodes: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the parent of each node, and the children of each, as far as they are there."""
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


def _path(leaf: object, parents: Mapping[str, str]) -> set[str]:
    """Return the nodes from the current one up; none where the export does not say which it is."""
    path: set[str] = set()
    while isinstance(leaf, str) and leaf not in path:
        path.add(leaf)
        leaf = parents.get(leaf)
    return path


def _start(raw: Mapping[str, Any], nodes: Mapping[str, Any]) -> str | int | None:
    """Return when a conversation began, which a longer one does not change."""
    if (given := moment(raw.get("create_time"))) is not None:
        return given
    messages = (dict_or_empty(dict_or_empty(node).get("message")) for node in nodes.values())
    times = [at for message in messages if (at := moment(message.get("create_time"))) is not None]
    return min(times, key=order_of, default=moment(raw.get("update_time")))


def _aside(message: Mapping[str, Any], title: str | None, current: bool | None) -> dict[str, Any]:
    model = text_or_none(dict_or_empty(message.get("metadata")).get("model_slug"))
    found = {"title": title, "model": model, "on_current_path": current}
    return {name: value for name, value in found.items() if value is not None}


def _speech(message: Mapping[str, Any]) -> _Speech | InvalidInput | None:
    """Return what a message says; None: nothing, or what is no speech."""
    role = dict_or_empty(message.get("author")).get("role")
    content = dict_or_empty(message.get("content"))
    metadata = dict_or_empty(message.get("metadata"))
    kind = content.get("content_type", "text")
    if role not in (USER, ASSISTANT) or kind in _UNSPOKEN:
        known = role in (None, "system", "tool", "developer") or kind in _UNSPOKEN
        return None if known else InvalidInput(f"a message of the unknown role {str(role)[:60]!r}")
    if kind not in _SPOKEN:
        return InvalidInput(f"a message of the unknown content_type {str(kind)[:60]!r}")
    if metadata.get("is_user_system_message") or metadata.get("is_do_not_remember") is True:
        return None
    if role == ASSISTANT and not _is_answer(message, metadata):
        return None
    texts, attachments = _parts(content, metadata)
    text = without_injected(_CITED.sub("", "\n".join(texts)))
    if not text and not attachments:
        return None
    return _Speech(
        role,
        text,
        attachments,
        ends=message.get("end_turn") is not False,
        hidden=bool(metadata.get("is_visually_hidden_from_conversation")),
    )


def _is_answer(message: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Return whether an assistant speaks to the user: not to a tool, and not to itself."""
    if message.get("recipient") not in (None, "", "all", "user"):
        return False
    if message.get("channel") == "analysis" or metadata.get("channel") == "analysis":
        return False
    # What is not finished would stand in a later export with other words.
    return message.get("status") != "in_progress"


def _parts(
    content: Mapping[str, Any], metadata: Mapping[str, Any]
) -> tuple[list[str], tuple[Attachment, ...]]:
    """Return the texts of a message, and its files by name."""
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
        given = dict_or_empty(part)
        pointer = text_or_none(given.get("asset_pointer"))
        kind = str(given.get("content_type") or "file")
        if isinstance(given.get("text"), str):
            texts.append(given["text"])
        elif given:
            of = kind.partition("_")[0]
            of = of if of in ("image", "audio", "video") else "file"
            upload = uploads.pop((pointer or "").rpartition("/")[2], {})
            files.append(_file(upload or given, of, pointer))
    return [text for text in texts if text.strip()], (
        *files,
        *(_file(upload, _type_of(upload)) for upload in uploads.values()),
    )


def _type_of(upload: Mapping[str, Any]) -> str:
    of = (text_or_none(upload.get("mime_type")) or "").partition("/")[0]
    return of if of in ("image", "audio", "video") else "file"


def _file(given: Mapping[str, Any], type_: str, pointer: str | None = None) -> Attachment:
    size = given.get("size", given.get("size_bytes"))
    mime = given.get("mime_type", given.get("mimeType"))
    return Attachment(
        type=type_,
        name=text_or_none(given.get("name")) or (pointer or "").rpartition("/")[2] or None,
        mime_type=text_or_none(mime),
        size=size_or_none(size),
    )


ADAPTER = Adapter(_PLATFORM, _recognises, lambda member, options: OneFile(member, _found))
