"""Matrix: a room's events as Element exports them: as an array, or one per line."""

from __future__ import annotations

import json
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
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items, matching
from recollect.streams.adapters.input.text_lines import lines

_PLATFORM = "matrix"
_EVENT_KEYS = (
    re.compile(rb'"origin_server_ts"\s*:\s*\d'),
    re.compile(rb'"event_id"\s*:\s*"\$'),
    re.compile(rb'"type"\s*:\s*"[\w.-]+\.'),
)
_LIST = re.compile(rb'"(messages|chunk|events)"\s*:\s*\[')
# A server's response to /sync: each room's events, by room id.
_SYNC_KEY = re.compile(rb'"next_batch"\s*:\s*"')
_SYNC_EVENT_PATH = re.compile(r"rooms\.(?:join|leave)\.(.+)\.(?:state|timeline)\.events\.item")
_FILES = {
    "m.image": "image",
    "m.video": "video",
    "m.audio": "audio",
    "m.file": "file",
    "m.sticker": "image",
}
# Messages by which two clients verify each other; their body is for clients without verification.
_VERIFICATION = "m.key.verification."
_POLLS = frozenset({"m.poll.start", "org.matrix.msc3381.poll.start"})
_VOTES = frozenset({"m.poll.response", "org.matrix.msc3381.poll.response"})
_POLL_ENDS = frozenset({"m.poll.end", "org.matrix.msc3381.poll.end"})
# The first field of Element's export: the name of the room.
_ROOM_NAME = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*"room_name"\s*:\s*'
    rb'("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){1,1000}")'
)
_ONLY_ROOM = ""
_MEMBERSHIPS = {
    ("invite", "join"): "joined",
    ("join", "leave"): "left",
    ("invite", "leave"): "declined the invitation",
    ("ban", "leave"): "was unbanned",
}
_MEMBERSHIP = {"join": "joined", "leave": "left", "invite": "was invited", "ban": "was banned"}
_QUOTE = re.compile(r"> ?")
_QUOTED_SENDER = re.compile(r"(?:\* )?<[^>]*> ?")


def _events_prefix(start: bytes) -> str | None:
    """Return ijson's prefix of a document's events; None if it has one event per line."""
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if head.startswith(b"["):
        return "item"
    try:
        first = msgspec.json.decode(head.partition(b"\n")[0])
        if isinstance(first, dict) and "origin_server_ts" in first:
            return None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    match = _LIST.search(head)
    timed = _EVENT_KEYS[0].search(head)
    if match is None or (timed is not None and timed.start() < match.start()):
        return "" if b'"origin_server_ts"' in head.partition(b"}\n{")[0] else None
    return f"{match[1].decode()}.item"


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith((b"[", b"{")) and all(mark.search(head) for mark in _EVENT_KEYS)


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    start = entry.start()
    where = _events_prefix(start)
    records = _lines(entry) if where is None else items(entry, where)
    if where is not None and where != "item" and _SYNC_KEY.search(start) and b'"rooms"' in start:
        records = _sync_events(entry)
    names: dict[str, str] = {}
    room_name = _ROOM_NAME.match(start)
    if room_name:
        names[_ONLY_ROOM] = json.loads(room_name[1].decode(errors="replace"))
    by_element = room_name is not None
    answers: dict[str, dict[str, str]] = {}
    return convert(records, lambda event: _events(event, names, answers, by_element))


def _sync_events(entry: InputEntry) -> Iterator[tuple[int, object]]:
    for number, found, event in matching(entry, _SYNC_EVENT_PATH):
        yield number, {"room_id": found[1], **event} if isinstance(event, dict) else event


def _lines(entry: InputEntry) -> Iterator[tuple[int, object]]:
    with entry.open() as file:
        for number, line in enumerate(lines(file), 1):
            if text := line.removeprefix(BYTE_ORDER_MARK).strip():
                try:
                    yield number, msgspec.json.decode(text)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    yield number, InvalidInput(f"not JSON: {error}")


def _events(
    event: object, names: dict[str, str], answers: dict[str, dict[str, str]], by_element: bool
) -> Iterator[InboundEvent]:
    """Yield the inbound events of a room event.

    `names`: names of members and rooms so far. `answers`: the texts of the answers of polls so far,
    by the ids of the polls and the answers. `by_element`: Element exported it.
    """
    if isinstance(event, InvalidInput):
        raise event
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        raise InvalidInput("not a Matrix event: it has no `type`")
    kind = event["type"]
    content = _dict(event.get("content"))
    unsigned = _dict(event.get("unsigned"))
    if kind == "m.room.message" or kind == "m.sticker":
        if redaction := _dict(unsigned.get("redacted_because")):
            yield _redaction({**redaction, "redacts": event["event_id"]}, event, names)
        elif content:
            yield from _message(event, content, names, by_element)
        else:
            yield _redaction({"redacts": event["event_id"]}, event, names)
    elif kind == "m.room.redaction":
        yield _redaction(event, event, names)
    elif kind == "m.reaction":
        relates = _dict(content.get("m.relates_to"))
        if relates.get("key"):
            key = str(relates["key"])
            yield _event(event, names, "reaction", key, target=relates["event_id"])
    elif kind == "m.room.member":
        yield from _membership_event(event, content, unsigned, names)
    elif kind in ("m.room.topic", "m.room.name"):
        property_ = "topic" if kind.endswith("topic") else "name"
        if value := _text(content.get(property_)):
            if property_ == "name":
                names[str(event.get("room_id") or _ONLY_ROOM)] = value
            yield _event(event, names, "notice", f"The room's {property_} is now {value}")
    elif kind in ("m.call.invite", "m.call.hangup"):
        yield _event(event, names, "notice", "started a call" if "inv" in kind else "ended a call")
    elif kind in (*_POLLS, *_VOTES, *_POLL_ENDS):
        if redaction := _dict(unsigned.get("redacted_because")):
            yield _redaction({**redaction, "redacts": event["event_id"]}, event, names)
        elif kind in _POLLS:
            yield _poll_event(event, content, names, answers)
        elif kind in _VOTES:
            poll = _dict(content.get("m.relates_to"))["event_id"]
            chosen = _choice(content, answers.get(poll, {}))
            yield _event(event, names, "reaction", chosen, target=poll)
        else:
            yield _event(event, names, "notice", _label(content) or "ended a poll")
    elif kind == "m.room.encrypted":
        if not _dict(unsigned.get("redacted_because")):
            raise InvalidInput("the message is encrypted, and the export has no key for it")
    elif "state_key" not in event and _text(content.get("body")):
        raise InvalidInput(f"an event with the unknown type {kind[:60]!r}")


def _message(
    event: Mapping[str, Any],
    content: Mapping[str, Any],
    names: Mapping[str, str],
    by_element: bool,
) -> Iterator[InboundEvent]:
    relates = _dict(content.get("m.relates_to"))
    if relates.get("rel_type") == "m.replace":
        yield _edit(event, content, relates, names)
        return
    bundled = _dict(_dict(_dict(event.get("unsigned")).get("m.relations")).get("m.replace"))
    newer = _dict(_dict(bundled.get("content")).get("m.new_content"))
    if by_element and not newer and bundled.get("event_id"):
        # In an encrypted room only the message's own content is decrypted. Element puts the last
        # edit there and exports no edits.
        newer = content
    if not (newer and newer.get("body") == content.get("body")):
        yield _message_event(event, content, relates, names)
    # The server may have applied the last edit to the message itself.
    if newer and bundled.get("event_id"):
        whole = {"room_id": event.get("room_id"), "sender": event["sender"], **bundled}
        of = {"event_id": event["event_id"]}
        edit = _edit(whole, {"m.new_content": newer}, of, names)
        said_at = event["origin_server_ts"] if newer is content else None
        yield msgspec.structs.replace(edit, said_at=said_at)


def _message_event(
    event: Mapping[str, Any],
    content: Mapping[str, Any],
    relates: Mapping[str, Any],
    names: Mapping[str, str],
) -> InboundEvent:
    if str(content.get("msgtype")).startswith(_VERIFICATION):
        return _event(event, names, "notice", "asked to verify a session")
    text, files, quoted = _body_of(event, content, names)
    answered = _text(_dict(relates.get("m.in_reply_to")).get("event_id"))
    thread = _text(relates.get("event_id")) if relates.get("rel_type") == "m.thread" else None
    if thread and relates.get("is_falling_back", False):
        answered = None
    message = _event(event, names, "message", text, reply_to=answered, thread_id=thread)
    return msgspec.structs.replace(
        message,
        attachments=files,
        # Notices come from bots; they count as outgoing, so that no facts are taken from them.
        direction="out" if content.get("msgtype") == "m.notice" else None,
        metadata={**message.metadata, "quoted": quoted} if quoted else message.metadata,
    )


def _edit(
    event: Mapping[str, Any],
    content: Mapping[str, Any],
    relates: Mapping[str, Any],
    names: Mapping[str, str],
) -> InboundEvent:
    newer = _dict(content.get("m.new_content"))
    if not newer:
        body = (_text(content.get("body")) or "").removeprefix("* ")
        newer = {**content, "body": body}
    text, files, _ = _body_of(event, newer, names)
    edit = _event(event, names, "edit", text, target=relates["event_id"])
    return msgspec.structs.replace(edit, attachments=files)


def _body_of(
    event: Mapping[str, Any], content: Mapping[str, Any], names: Mapping[str, str]
) -> tuple[str, tuple[Attachment, ...], str | None]:
    """Return the text of a message, its files, and the text that it quotes."""
    kind = "m.sticker" if event.get("type") == "m.sticker" else content.get("msgtype", "m.text")
    if kind == "m.bad.encrypted":
        raise InvalidInput("the message is encrypted, and the export has no key for it")
    # A message of an unknown type counts as text: its body is what programs show then.
    body = content["body"]
    if not isinstance(body, str):
        raise InvalidInput("a message whose body is not text")
    if kind in _FILES:
        info = _dict(content.get("info"))
        file_name = _text(content.get("filename"))
        size = info.get("size")
        file = Attachment(
            type=_FILES[kind],
            name=file_name or body or None,
            mime_type=_text(info.get("mimetype")),
            size=size if isinstance(size, int) else None,
        )
        return (body if file_name and body != file_name else ""), (file,), None
    text, quoted = body, None
    if "m.in_reply_to" in _dict(content.get("m.relates_to")):
        text, quoted = _without_quote(body)
    if kind == "m.emote":
        text = f"{_name(event, names)} {text}"
    return text, (), quoted


def _without_quote(body: str) -> tuple[str, str | None]:
    """Return a reply without its fallback quotation, and the quotation."""
    rows = body.split("\n")
    count = next((n for n, row in enumerate(rows) if not row.startswith(">")), len(rows))
    if not count:
        return body, None
    quoted = "\n".join(_QUOTE.sub("", row, count=1) for row in rows[:count])
    return "\n".join(rows[count:]).strip(), _QUOTED_SENDER.sub("", quoted, count=1) or None


def _redaction(
    event: Mapping[str, Any], outer: Mapping[str, Any], names: Mapping[str, str]
) -> InboundEvent:
    content = _dict(event.get("content"))
    target = event.get("redacts") or content.get("redacts")
    whole = {
        "room_id": outer.get("room_id"),
        "sender": outer["sender"],
        "origin_server_ts": outer["origin_server_ts"],
        **event,
    }
    whole["event_id"] = _text(event.get("event_id")) or f"{target}:redacted"
    if not isinstance(target, str):
        raise InvalidInput("a redaction without a target")
    return _event(whole, names, "deletion", "", target=target)


def _membership_event(
    event: Mapping[str, Any],
    content: Mapping[str, Any],
    unsigned: Mapping[str, Any],
    names: dict[str, str],
) -> Iterator[InboundEvent]:
    member = event["state_key"]
    before = _dict(unsigned.get("prev_content")) or _dict(event.get("prev_content"))
    name = _text(content.get("displayname"))
    if name:
        names[member] = name
    old_membership, new_membership = before.get("membership"), content.get("membership")
    member_event = {**event, "sender": member}
    if old_membership != new_membership and new_membership in _MEMBERSHIP:
        change = _MEMBERSHIPS.get(
            (old_membership or "", new_membership), _MEMBERSHIP[new_membership]
        )
        if new_membership == "leave" and event.get("sender") != member and old_membership == "join":
            change = "was removed"
        yield _event(member_event, names, "notice", f"{_name(member_event, names)} {change}")
    elif old_membership == new_membership == "join" and name and name != before.get("displayname"):
        old = _text(before.get("displayname")) or member
        yield _event(member_event, names, "notice", f"{old} is now called {name}")


def _poll_event(
    event: Mapping[str, Any],
    content: Mapping[str, Any],
    names: Mapping[str, str],
    answers: dict[str, dict[str, str]],
) -> InboundEvent:
    """Return the question of a poll, or its edit, and add its answers to `answers`."""
    relates = _dict(content.get("m.relates_to"))
    is_edit = relates.get("rel_type") == "m.replace"
    if is_edit:
        content = _dict(content.get("m.new_content")) or content
    poll = _dict(content.get("m.poll")) or _dict(content.get("org.matrix.msc3381.poll.start"))
    given = poll.get("answers")
    texts = {
        str(one.get("m.id") or one.get("id")): _label(one)
        for one in map(_dict, given if isinstance(given, list) else ())
    }
    answers[str(relates.get("event_id") if is_edit else event.get("event_id"))] = texts
    question = _label(_dict(poll.get("question"))) or _label(content)
    target = relates["event_id"] if is_edit else None
    asked = _event(event, names, "edit" if is_edit else "message", question, target=target)
    options = " / ".join(filter(None, texts.values()))
    return msgspec.structs.replace(
        asked, attachments=(Attachment(type="poll", caption=options),) if options else ()
    )


def _choice(content: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Return the answers that a vote chooses; `texts`: those of the poll, by id."""
    response = _dict(content.get("org.matrix.msc3381.poll.response"))
    chosen = content.get("m.selections", response.get("answers"))
    if not isinstance(chosen, list) or not chosen:
        return "withdrew the vote"
    return " / ".join(texts.get(str(one)) or "voted" for one in chosen)


def _label(labelled: Mapping[str, Any]) -> str:
    for field in ("body", "org.matrix.msc1767.text", "m.text"):
        value = labelled.get(field)
        if isinstance(value, list):
            value = _dict(value[0] if value else None).get("body")
        if text := _text(value):
            return text
    return ""


def _event(
    event: Mapping[str, Any],
    names: Mapping[str, str],
    kind: str,
    content: str,
    *,
    target: str | None = None,
    reply_to: str | None = None,
    thread_id: str | None = None,
) -> InboundEvent:
    at = event["origin_server_ts"]
    if not isinstance(at, int) or not isinstance(event["sender"], str):
        raise InvalidInput("an event without a time or a sender")
    room = _text(event.get("room_id"))
    title = names.get(room or _ONLY_ROOM) or names.get(_ONLY_ROOM)
    return InboundEvent(
        platform=_PLATFORM,
        metadata={"channel": title} if title else {},
        sender_id=event["sender"],
        sender_name=_name(event, names),
        occurred_at=at,
        content=content,
        id=_text(event.get("event_id")),
        peer_id=room,
        thread_id=thread_id,
        reply_to=reply_to,
        kind=kind,
        target=target,
    )


def _name(event: Mapping[str, Any], names: Mapping[str, str]) -> str:
    sender = str(event["sender"])
    return names.get(sender) or sender.partition(":")[0].removeprefix("@") or sender


def _dict(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


ADAPTER = Adapter(_PLATFORM, _recognises, lambda entry, options: SingleFileSource(entry, _parse))
