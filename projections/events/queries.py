"""What is asked of events.db. Agents ask only for events below the one they handle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from projections.sqlite import rows, value
from schemas.events import KINDS, Attachment, Content, Event
from schemas.records import Source

_COLUMNS = """
    number, id, kind, platform, occurred_at, ingested_at, source_id, sender_id, content,
    sender_name, peer_id, peer_kind, thread_id, session_id, direction, reply_to, attachments,
    metadata, turn_id, utc_offset
"""

_attachments = msgspec.json.Decoder(tuple[Attachment, ...])


def conversation_before(
    connection: apsw.Connection, conversation: str, number: int, limit: int
) -> list[Event]:
    """Return up to `limit` events of a conversation before `number`, the nearest first."""
    return [
        _event(row)
        for row in connection.execute(
            # Left to itself, the planner walks the whole zone backwards by number.
            f"SELECT {_COLUMNS} FROM events INDEXED BY idx_events_conversation "
            "WHERE conversation = ? AND number < ? ORDER BY number DESC LIMIT ?",
            (conversation, number, limit),
        )
    ]


def turn_before(
    connection: apsw.Connection, platform: str, turn_id: str, number: int
) -> list[Event]:
    """Return the events of a platform's turn before `number`, in order."""
    return [
        _event(row)
        for row in connection.execute(
            f"SELECT {_COLUMNS} FROM events "
            "WHERE turn_id = ? AND platform = ? AND number < ? ORDER BY number",
            (turn_id, platform, number),
        )
    ]


def quiet_turns(
    connection: apsw.Connection, number: int, before_ms: int
) -> list[tuple[str, Event]]:
    """Return (turn id, last event) of turns whose last event below `number` is before a time."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE number IN ("
        "    SELECT max(number) FROM events WHERE turn_id IS NOT NULL AND number < ?"
        "    GROUP BY platform, turn_id HAVING max(occurred_at) < ?"
        ") ORDER BY number",
        (number, before_ms),
    )
    found = []
    for row in rows:
        event = _event(row)
        assert isinstance(event.payload, Content) and event.payload.turn_id
        found.append((event.payload.turn_id, event))
    return found


def sources(connection: apsw.Connection, numbers: Iterable[int]) -> dict[int, Source]:
    """Return the numbers with the ids of their keys; a number that was never used is absent."""
    found = {}
    for number in numbers:
        row = connection.execute("SELECT key_id FROM seals WHERE number = ?", (number,)).fetchone()
        if row is not None:
            found[number] = Source(number, row[0])
    return found


def event_count(connection: apsw.Connection) -> int:
    """Return how many events are readable."""
    return int(value(connection, "SELECT count(*) FROM events"))


def numbers_of_source(
    connection: apsw.Connection, source_id: str, platform: str | None
) -> list[tuple[int, str, str]]:
    """Return (number, platform, event id) of the events that a source calls `source_id`."""
    return [
        (number, name, event_id)
        for number, name, event_id in rows(
            connection,
            "SELECT number, platform, id FROM events "
            "WHERE source_id = ?1 AND (?2 IS NULL OR platform = ?2) ORDER BY number",
            (source_id, platform),
        )
    ]


def switched_to(connection: apsw.Connection) -> str | None:
    """Return the chain that the last switch names; None where there was none."""
    chain: str | None = value(connection, "SELECT chain FROM switches ORDER BY number DESC LIMIT 1")
    return chain


def _event(row: tuple[Any, ...]) -> Event:
    (number, event_id, kind, platform, occurred_at, ingested_at, *rest) = row
    fields: dict[str, Any] = dict(
        zip(
            (
                *("source_id", "sender_id", "content", "sender_name", "peer_id", "peer_kind"),
                *("thread_id", "session_id", "direction", "reply_to", "attachments"),
                *("metadata", "turn_id", "utc_offset"),
            ),
            rest,
            strict=True,
        )
    )
    attachments, metadata = fields["attachments"], fields["metadata"]
    fields["attachments"] = _attachments.decode(attachments) if attachments != "[]" else ()
    fields["metadata"] = msgspec.json.decode(metadata) if metadata != "{}" else {}
    payload: Any = KINDS[kind](**fields)
    return Event(
        zone="",
        number=number,
        id=event_id,
        platform=platform,
        occurred_at=occurred_at,
        ingested_at=ingested_at,
        payload=payload,
    )
