"""Retained items as events of a zone.

An item is one event of the platform `hindsight`, or, if it is a conversation, one event for each
turn, from its speaker. Its context, document, tags and metadata are in the event's metadata.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recollect import InvalidInput, Memory, Zone
from recollect.integrations.facade_kit import (
    REPLACEMENT,
    group_versions,
    list_all,
    now_ms,
    time_of_edit,
    to_unix_ms,
)
from recollect.integrations.transcripts import Turn, parse_turns

PLATFORM = "hindsight"
#: The metadata key of Hindsight's fields.
KEY = "hindsight"
#: The `kind` of the event that stores the name and the missions of a bank. A bank is Hindsight's
#: word for a zone; its missions are texts that tell Hindsight what to retain.
BANK = "bank"
_SENDER = "user"
# The fields that a replacement takes over from the replaced memory.
_INHERITED_FIELDS = ("context", "document_id", "tags", "metadata")


def hindsight_fields(event: Memory) -> dict[str, Any]:
    """Return Hindsight's fields of an event; {} if it was not retained through this interface."""
    fields = (event.metadata or {}).get(KEY) if event.platform == PLATFORM else None
    return fields if isinstance(fields, dict) else {}


def tags_of(event: Memory) -> set[str]:
    """Return the tags of a retained event."""
    return set(hindsight_fields(event).get("tags") or ())


def find_retained(zone: Zone, **fields: str) -> list[Memory]:
    """Return the retained events with these values of Hindsight's fields, in storage order."""
    metadata = {f"{KEY}.{name}": value for name, value in fields.items()}
    found = list_all(zone, "events", platform=PLATFORM, metadata=metadata)
    return sorted(
        (one for one in found if hindsight_fields(one).get("kind") != BANK), key=storage_order_key
    )


def storage_order_key(event: Memory) -> tuple[str, str, list[int]]:
    """Return the sort key of storage order: the order in which `retain` stored events."""
    fields = hindsight_fields(event)
    return (
        str(fields.get("at") or event.as_of),
        str(fields.get("operation")),
        list(fields.get("place") or ()),
    )


def ordered_versions(events: Iterable[Memory]) -> list[list[Memory]]:
    """Group events by message, in storage order; the last version of each is the current one."""
    return sorted(group_versions(events), key=lambda versions: storage_order_key(versions[0]))


def content_events(
    items: Sequence[Mapping[str, Any]],
    operation: str,
    document_tags: Sequence[str],
    earlier: Mapping[str, Memory],
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield the index and the events of each item.

    `earlier`: the events that an earlier attempt at the operation ingested, by source id. The
    events get the same times again.

    Raises:
        InvalidInput: an item has no valid content.
    """
    at = next((hindsight_fields(event).get("at") for event in earlier.values()), None) or _iso_time(
        now_ms()
    )
    for index, item in enumerate(items):
        fields = {
            "operation": operation,
            "at": at,
            "context": item.get("context"),
            "document_id": item.get("document_id"),
            "tags": list(dict.fromkeys([*(item.get("tags") or ()), *document_tags])),
            "metadata": item.get("metadata"),
        }
        timestamp = item.get("timestamp")
        start = to_unix_ms(None if timestamp in ("", "unset") else timestamp, "timestamp")
        text = checked_text(item.get("content"), f"items[{index}].content")
        parsed = parse_turns(text)
        yield (
            index,
            [
                _event(turn, fields, index, turn_index, earlier, start, is_dialogue=bool(parsed))
                for turn_index, turn in enumerate(parsed or [Turn(_SENDER, text)])
            ],
        )


def _event(
    turn: Turn,
    fields: dict[str, Any],
    index: int,
    turn_index: int,
    earlier: Mapping[str, Memory],
    start: int,
    *,
    is_dialogue: bool,
) -> dict[str, Any]:
    base = f"{PLATFORM}-{fields['operation']}-{index}"
    id_ = f"{base}-{turn_index}" if is_dialogue else base
    surroundings = {"before": turn.before, "after": turn.after} if is_dialogue else {}
    stored = {**fields, **surroundings, "place": [index, turn_index]}
    event: dict[str, Any] = {
        "platform": PLATFORM,
        "id": id_,
        "sender_id": turn.name or (turn.speaker if turn.is_assistant else _SENDER),
        "sender_name": turn.name,
        # Consecutive turns are a millisecond apart, which keeps their order.
        "occurred_at": earlier[id_].as_of if id_ in earlier else start + turn_index,
        "content": turn.content,
        "metadata": {KEY: {name: value for name, value in stored.items() if value}},
    }
    if is_dialogue:
        event["thread_id"] = str(fields.get("document_id") or base)
    if turn.is_assistant:
        event["direction"] = "out"
    return event


def _iso_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).isoformat(timespec="milliseconds")


def edit_event(versions: Sequence[Memory], fields: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return an edit of a message; `versions`: the message and its edits, oldest first."""
    target = versions[0].source_event_ids[0]
    return {
        "platform": PLATFORM,
        "id": f"{target}-edit-{secrets.token_hex(8)}",
        "kind": "edit",
        "target": target,
        "sender_id": _SENDER,
        "occurred_at": time_of_edit(versions, now_ms()),
        "content": text,
        "metadata": {KEY: dict(fields)},
    }


def replacement_event(
    source: Memory, fields: Mapping[str, Any], memory_id: str, text: str
) -> dict[str, Any]:
    """Return an event that replaces a memory; `source`: the event that states the old memory."""
    inherited = {name: fields[name] for name in _INHERITED_FIELDS if name in fields}
    return {
        "platform": PLATFORM,
        "id": f"{PLATFORM}-update-{secrets.token_hex(16)}",
        "sender_id": source.sender_id,
        "sender_name": source.sender_name,
        "occurred_at": now_ms(),
        "content": text,
        "metadata": {KEY: {**inherited, "kind": REPLACEMENT, "id": memory_id}},
    }


def checked_text(content: Any, field: str) -> str:
    """Return an item's content as one text.

    Raises:
        InvalidInput: the content is empty or not only text. The message names `field`.
    """
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, Mapping)]
        if len(blocks) < len(content) or any(block.get("type") != "text" for block in blocks):
            raise InvalidInput(f"{field}: only text can be retained, no images")
        content = "\n".join(str(block.get("text") or "") for block in blocks)
    if not isinstance(content, str) or not content.strip():
        raise InvalidInput(f"{field} is empty; give a non-empty string")
    return content
