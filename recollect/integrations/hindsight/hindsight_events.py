"""What was retained, as events of a zone.

A content is an event of the platform `hindsight`, or one for each turn of a conversation; its
context, document, tags and metadata stand in the event's own. An event says who spoke.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from recollect import InvalidInput, Memory, Zone
from recollect.integrations.facade_kit import UPDATE, every, moment, now, revisions
from recollect.integrations.transcripts import Turn, turns

PLATFORM = "hindsight"
#: The key of an event's metadata under which Hindsight's fields stand.
KEY = "hindsight"
#: What `kind` is of the event that holds the name and the missions of a bank.
BANK = "bank"
_SENDER = "user"
# What a text has of the memory that it takes the place of.
_KEPT = ("context", "document_id", "tags", "metadata")


def said_in(event: Memory) -> dict[str, Any]:
    """Return Hindsight's fields of an event; none of one that came in another way."""
    said = (event.metadata or {}).get(KEY) if event.platform == PLATFORM else None
    return said if isinstance(said, dict) else {}


def tags_of(event: Memory) -> set[str]:
    """Return the tags of what was retained."""
    return set(said_in(event).get("tags") or ())


def retained(zone: Zone, **said: str) -> list[Memory]:
    """Return the events of which Hindsight's fields say this, in the order they were retained."""
    metadata = {f"{KEY}.{name}": value for name, value in said.items()}
    found = every(zone, "events", platform=PLATFORM, metadata=metadata)
    return sorted((one for one in found if said_in(one).get("kind") != BANK), key=order)


def order(event: Memory) -> tuple[str, str, list[int]]:
    """Return where an event stands among what was retained."""
    said = said_in(event)
    return (
        str(said.get("at") or event.as_of),
        str(said.get("operation")),
        list(said.get("place") or ()),
    )


def messages(events: Iterable[Memory]) -> list[list[Memory]]:
    """Return what was retained with the versions of each, in order; the last one counts."""
    return sorted(revisions(events), key=lambda versions: order(versions[0]))


def contents(
    items: Sequence[Mapping[str, Any]],
    operation: str,
    document_tags: Sequence[str],
    before: Mapping[str, Memory],
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield what each content is as events, with its place.

    `before`: what the same operation put there, by source id; times are as they were then.

    Raises:
        InvalidInput: a content is none.
    """
    at = next((said_in(event).get("at") for event in before.values()), None) or _written(now())
    for place, item in enumerate(items):
        said = {
            "operation": operation,
            "at": at,
            "context": item.get("context"),
            "document_id": item.get("document_id"),
            "tags": list(dict.fromkeys([*(item.get("tags") or ()), *document_tags])),
            "metadata": item.get("metadata"),
        }
        timestamp = item.get("timestamp")
        begun = moment(None if timestamp in ("", "unset") else timestamp, "timestamp")
        text = text_of(item.get("content"), f"items[{place}].content")
        said_by = turns(text)
        yield (
            place,
            [
                _event(turn, said, place, number, before, begun, several=bool(said_by))
                for number, turn in enumerate(said_by or [Turn(_SENDER, text)])
            ],
        )


def _event(
    turn: Turn,
    said: dict[str, Any],
    place: int,
    number: int,
    before: Mapping[str, Memory],
    begun: int,
    *,
    several: bool,
) -> dict[str, Any]:
    base = f"{PLATFORM}-{said['operation']}-{place}"
    id_ = f"{base}-{number}" if several else base
    around = {"before": turn.before, "after": turn.after} if several else {}
    kept = {**said, **around, "place": [place, number]}
    event: dict[str, Any] = {
        "platform": PLATFORM,
        "id": id_,
        "sender_id": turn.name or (turn.speaker if turn.by_assistant else _SENDER),
        "sender_name": turn.name,
        # In a conversation one turn comes after the other.
        "occurred_at": before[id_].as_of if id_ in before else begun + number,
        "content": turn.content,
        "metadata": {KEY: {name: value for name, value in kept.items() if value}},
    }
    if several:
        event["thread_id"] = str(said.get("document_id") or base)
    if turn.by_assistant:
        event["direction"] = "out"
    return event


def _written(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).isoformat(timespec="milliseconds")


def edit_of(target: str, said: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a new text for a message, by the source id under which it was first sent."""
    return {
        "platform": PLATFORM,
        "id": f"{target}-edit-{secrets.token_hex(8)}",
        "kind": "edit",
        "target": target,
        "sender_id": _SENDER,
        "occurred_at": now(),
        "content": text,
        "metadata": {KEY: dict(said)},
    }


def update_of(
    stating: Memory, said: Mapping[str, Any], memory_id: str, text: str
) -> dict[str, Any]:
    """Return a text that takes the place of a memory of an event, which has these fields."""
    kept = {name: said[name] for name in _KEPT if name in said}
    return {
        "platform": PLATFORM,
        "id": f"{PLATFORM}-update-{secrets.token_hex(16)}",
        "sender_id": stating.sender_id,
        "sender_name": stating.sender_name,
        "occurred_at": now(),
        "content": text,
        "metadata": {KEY: {**kept, "kind": UPDATE, "id": memory_id}},
    }


def text_of(content: Any, named: str) -> str:
    """Return the words of a content.

    Raises:
        InvalidInput: it has none, or is more than words; the message says `named`.
    """
    if isinstance(content, list):
        blocks = [block for block in content if isinstance(block, Mapping)]
        if len(blocks) < len(content) or any(block.get("type") != "text" for block in blocks):
            raise InvalidInput(f"{named}: only texts are kept here, no images")
        content = "\n".join(str(block.get("text") or "") for block in blocks)
    if not isinstance(content, str) or not content.strip():
        raise InvalidInput(f"{named} is empty; give a text")
    return content
