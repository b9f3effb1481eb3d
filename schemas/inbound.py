"""External events: validated, given an id, and turned into drafts (docs/reference/events.md)."""

from __future__ import annotations

import unicodedata
from math import isfinite
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.decoder_errors import decoder_message
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import (
    KINDS,
    RESERVED_PLATFORM,
    Attachment,
    Changeable,
    ChangingDraft,
    Content,
    Deletion,
    Direction,
    Draft,
    Edit,
    GrowingDraft,
    Message,
    PeerKind,
    Reaction,
    Remember,
    SystemNotice,
    TurnCompleted,
)
from recollect.schemas.ids import content_source_id
from recollect.schemas.text_sanitising import (
    encodable,
    first_invisible_character,
    replace_lone_surrogates_json,
)
from recollect.schemas.times import parse_time

MAX_CONTENT_BYTES = 262_144
MAX_RECORD_BYTES = 1_048_576
MAX_NAME_BYTES = 1_024
# Characters of an invalid value that an error message quotes.
_MAX_QUOTE_LENGTH = 150
# Limits on all other values. Every JSON and MessagePack decoder supports values up to them.
MAX_DEPTH = 64
MAX_INTEGER = 2**64 - 1
MIN_INTEGER = -(2**63)

# Id fields. They may not contain invisible characters, since ids are compared and printed.
_IDS = (
    *("platform", "sender_id", "id", "peer_id"),
    *("thread_id", "session_id", "reply_to", "turn_id", "target"),
)

_CONTENT_KINDS: dict[str, type[Content]] = {
    "message": Message,
    "turn_completed": TurnCompleted,
    "remember": Remember,
    "edit": Edit,
    "deletion": Deletion,
    "reaction": Reaction,
    "notice": SystemNotice,
}

_KINDS_WITH_TARGET = ("edit", "deletion", "reaction")
_KINDS_WITHOUT_TEXT = ("turn_completed", "deletion")

#: How the text of an event may change in its source.
Revisable = Literal["growing", "changing"]


class InboundEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event. Times are ISO 8601 with a zone, or unix milliseconds.

    Fields that are not listed here are kept in `metadata`.
    """

    platform: Annotated[str, Meta(description="Where it was said, such as slack or email.")]
    sender_id: Annotated[str, Meta(description="The sender's id on the platform.")]
    occurred_at: Annotated[
        str | int, Meta(description="When it was said: ISO 8601 with a zone, or unix milliseconds.")
    ]
    content: Annotated[str, Meta(description="The words of the message.")]
    id: Annotated[
        str | None, Meta(description="The source's own id; unique within the platform.")
    ] = None
    sender_name: Annotated[str | None, Meta(description="The name that the platform shows.")] = None
    peer_id: Annotated[
        str | None, Meta(description="The conversation: a channel, group or counterpart.")
    ] = None
    peer_kind: Annotated[PeerKind | None, Meta(description="What peer_id is.")] = None
    thread_id: Annotated[str | None, Meta(description="The thread within the conversation.")] = None
    session_id: Annotated[str | None, Meta(description="The session of an agent.")] = None
    direction: Annotated[
        Direction | None,
        Meta(description="in: said to the memory's owner; out: said by an assistant or the owner."),
    ] = None
    reply_to: Annotated[
        str | None, Meta(description="The id of the message that this answers.")
    ] = None
    attachments: Annotated[
        tuple[Attachment, ...], Meta(description="Files, pictures and forwarded messages.")
    ] = ()
    metadata: Annotated[
        dict[str, Any], Meta(description="Anything else; stored, but never searched.")
    ] = {}
    kind: Annotated[
        str, Meta(description="message, turn_completed, edit, deletion, reaction or notice.")
    ] = "message"
    turn_id: Annotated[str | None, Meta(description="The agent turn that this belongs to.")] = None
    target: Annotated[
        str | None,
        Meta(
            description="For an edit, a deletion or a reaction: the id of the message it is about."
        ),
    ] = None
    said_at: Annotated[
        str | int | None, Meta(description="For an edit: when the message was first said.")
    ] = None
    ingested_at: Annotated[
        str | int | None,
        Meta(description="When the ledger accepted it; by default, the ledger's current time."),
    ] = None
    revisable: Annotated[
        Revisable | None,
        Meta(
            description="Whether another text with this id is an edit: growing: one that only "
            "adds to the text; changing: any later one. By default it is a conflict."
        ),
    ] = None
    revised_at: Annotated[
        str | int | None,
        Meta(description="For a changing text: when it was last changed; by default occurred_at."),
    ] = None


_decoder = msgspec.json.Decoder(InboundEvent)
_objects = msgspec.json.Decoder(dict[str, Any])
_FIELDS = frozenset(field.name for field in msgspec.structs.fields(InboundEvent))
_OPTIONAL = frozenset(
    field.name for field in msgspec.structs.fields(InboundEvent) if not field.required
)


def decode_inbound(line: bytes) -> InboundEvent:
    """Decode an event from a line of JSON; unknown fields go to `metadata`.

    A lone surrogate becomes U+FFFD. Null in an optional field counts as omitted.

    Raises:
        InvalidInput: the line is not a valid event; the message says why, in one sentence.
    """
    if len(line) > MAX_RECORD_BYTES:
        raise InvalidInput(f"the event is too long; the maximum is {MAX_RECORD_BYTES} bytes")
    line = replace_lone_surrogates_json(line)
    try:
        known = _objects.decode(line)
        event = _decoded(line, known)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(_reason(error, line)) from None
    extra = {name: value for name, value in known.items() if name not in _FIELDS}
    if extra:
        event = msgspec.structs.replace(event, metadata={**extra, **event.metadata})
    return event


def _decoded(line: bytes, fields: dict[str, Any]) -> InboundEvent:
    try:
        return _decoder.decode(line)
    except msgspec.ValidationError:
        given = {
            name: value
            for name, value in fields.items()
            if value is not None or name not in _OPTIONAL
        }
        if len(given) == len(fields):
            raise
        return _decoder.decode(msgspec.json.encode(given))


def draft_of(event: InboundEvent, ordinal: int = 0) -> Draft:
    """Validate an inbound event and return its draft.

    `ordinal`: distinguishes records of one import that have no id and are otherwise equal (see
    `content_source_id`).

    Raises:
        InvalidInput: a value cannot be stored, or the platform is reserved; the message names the
            field.
    """
    check_platform(event.platform)
    return internal_draft_of(event, ordinal)


def check_platform(platform: str) -> None:
    """Raise InvalidInput if a platform is, or looks like, the reserved one."""
    folded = unicodedata.normalize("NFKC", platform).casefold()
    if unicodedata.normalize("NFKC", folded).strip() == RESERVED_PLATFORM:
        raise InvalidInput(
            f"platform {platform[:60]!r} is reserved for commands; name the source of the event"
        )


def internal_draft_of(event: InboundEvent, ordinal: int = 0) -> Draft:
    """Like `draft_of`, but allows the reserved platform. A lone surrogate becomes U+FFFD."""
    event = encodable(event)
    if event.kind not in _CONTENT_KINDS:
        if event.kind in KINDS:
            raise InvalidInput(f"kind {event.kind!r} is a command; use the operation for it")
        known = ", ".join(_CONTENT_KINDS)
        raise InvalidInput(f"unknown kind {event.kind[:60]!r}; known are {known}")
    for name in ("platform", "sender_id"):
        if not getattr(event, name).strip():
            raise InvalidInput(f"{name} is empty")
    for name in (*_IDS, "sender_name"):
        _check_length(name, getattr(event, name), MAX_NAME_BYTES)
    for name in _IDS:
        if character := first_invisible_character(getattr(event, name) or ""):
            raise InvalidInput(
                f"{name} holds {character}, a control or invisible character; remove it"
            )
    _check_length("content", event.content, MAX_CONTENT_BYTES)
    check_value("attachments", msgspec.to_builtins(event.attachments))
    check_value("metadata", event.metadata)
    if event.id is not None and not event.id:
        raise InvalidInput("id is empty; leave it out or give the source's own id")
    if event.kind == "turn_completed" and not event.turn_id:
        raise InvalidInput("turn_completed needs turn_id, which is missing")
    if event.kind in _KINDS_WITH_TARGET and not event.target:
        raise InvalidInput(f"kind {event.kind!r} needs the id of a message: target is missing")
    if (
        event.kind not in _KINDS_WITHOUT_TEXT
        and not event.content.strip()
        and not event.attachments
    ):
        raise InvalidInput("content is empty and there is no attachment")
    occurred_at, utc_offset = parse_time(event.occurred_at, "occurred_at")
    ingested_at = None
    if event.ingested_at is not None:
        ingested_at, _ = parse_time(event.ingested_at, "ingested_at")
    kind = _CONTENT_KINDS[event.kind]
    kind_fields: dict[str, Any] = {}
    if "target" in kind.__struct_fields__:
        kind_fields["target"] = event.target
    elif event.target is not None:
        raise InvalidInput(f"kind {event.kind!r} takes no `target`; for an answer, use reply_to")
    if event.said_at is not None:
        if kind is not Edit:
            raise InvalidInput("said_at applies to edits only; use occurred_at")
        kind_fields["said_at"] = parse_time(event.said_at, "said_at")[0]
    if event.revised_at is not None:
        if event.revisable != "changing":
            raise InvalidInput("revised_at applies to events whose revisable is changing only")
        if not issubclass(kind, Changeable):
            raise InvalidInput(f"kind {event.kind!r} takes no revised_at; leave it out")
        kind_fields["revised_at"] = parse_time(event.revised_at, "revised_at")[0]
    conversation = [event.peer_id or "", event.thread_id or "", event.session_id or ""]
    if event.kind != "message" and event.target is not None:
        # Equal reactions to different messages are different events.
        conversation += [event.kind, event.target]
    source_id = event.id or content_source_id(
        event.platform,
        event.sender_id,
        "\x1f".join(conversation),
        occurred_at,
        event.content,
        ordinal,
    )
    payload = kind(
        source_id=source_id,
        sender_id=event.sender_id,
        content=event.content,
        sender_name=event.sender_name,
        peer_id=event.peer_id,
        peer_kind=event.peer_kind,
        thread_id=event.thread_id,
        session_id=event.session_id,
        direction=event.direction,
        reply_to=event.reply_to,
        attachments=event.attachments,
        metadata=event.metadata,
        turn_id=event.turn_id or None,
        utc_offset=utc_offset,
        **kind_fields,
    )
    draft = Draft(
        platform=event.platform,
        occurred_at=occurred_at,
        payload=payload,  # type: ignore[arg-type]
        ingested_at=ingested_at,
    )
    if event.revisable == "growing":
        return GrowingDraft(**msgspec.structs.asdict(draft))
    if event.revisable == "changing":
        return ChangingDraft(**msgspec.structs.asdict(draft))
    return draft


def _check_length(name: str, value: str | None, max_bytes: int) -> None:
    if value is None:
        return
    _check_text(name, value)
    if len(value) * 4 > max_bytes and (size := len(value.encode())) > max_bytes:
        raise InvalidInput(f"{name} has {size} bytes; the maximum is {max_bytes}")


def check_value(name: str, value: Any) -> None:
    """Raise InvalidInput if a value, or any value nested in it, cannot be stored."""
    pending = [(value, 1)]
    while pending:
        item, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise InvalidInput(f"{name} is nested too deeply; the maximum is {MAX_DEPTH} levels")
        if isinstance(item, dict):
            pending.extend((part, depth + 1) for pair in item.items() for part in pair)
        elif isinstance(item, list | tuple):
            pending.extend((part, depth + 1) for part in item)
        elif isinstance(item, str):
            _check_text(name, item)
        elif isinstance(item, int) and not MIN_INTEGER <= item <= MAX_INTEGER:
            raise InvalidInput(f"{name} holds an integer beyond 64 bits; send it as a string")
        elif isinstance(item, float) and not isfinite(item):
            raise InvalidInput(f"{name} holds {item}, which JSON cannot represent")


def _check_text(name: str, value: str) -> None:
    if "\0" in value:
        raise InvalidInput(f"{name} holds a NUL character; remove it")


def _reason(error: Exception, line: bytes) -> str:
    if isinstance(error, UnicodeDecodeError):
        try:
            line.decode()
        except UnicodeDecodeError as found:
            return f"not UTF-8 at byte {found.start}"
        return "not UTF-8"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, msgspec.ValidationError):
        reason = decoder_message(error, InboundEvent)
        return reason if len(reason) <= _MAX_QUOTE_LENGTH else reason[:_MAX_QUOTE_LENGTH] + "…"
    return f"not JSON: {error}"
