"""Queries of events.db; agents read only events before the one that they process."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.projections.events.events_file import conversation_of
from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.events import (
    KINDS,
    RESERVED_PLATFORM,
    Attachment,
    Content,
    Deletion,
    Edit,
    Event,
    message_of,
)
from recollect.schemas.exported_events import SWITCH_GAP
from recollect.schemas.ids import first_ulid
from recollect.schemas.ledger.records import Source

_COLUMNS = """
    number, id, kind, platform, occurred_at, ingested_at, source_id, sender_id, content,
    sender_name, peer_id, peer_kind, thread_id, session_id, direction, reply_to, attachments,
    metadata, turn_id, utc_offset, target, said_at
"""

_attachments = msgspec.json.Decoder(tuple[Attachment, ...])


def conversation_before(
    connection: apsw.Connection,
    conversation: str,
    number: int,
    limit: int,
    excluded: Container[int] = (),
) -> list[Event]:
    """Return up to `limit` events of a conversation before `number`, the latest first.

    Events with numbers in `excluded` count as erased.
    """
    event_rows = connection.execute(
        # Without INDEXED BY, the planner would scan the whole zone backwards by number.
        f"SELECT {_COLUMNS} FROM events INDEXED BY idx_events_conversation "
        "WHERE conversation = ? AND number < ? ORDER BY number DESC",
        (conversation, number),
    )
    readable = (event for row in event_rows if (event := _event(row)).number not in excluded)
    return list(islice(readable, limit))


class NearbyEvent(NamedTuple):
    """An event of the same conversation; `occurred_at` is unix ms."""

    number: int
    id: str
    occurred_at: int
    sender_name: str
    content: str


class NearbyEvents(NamedTuple):
    """The events of a conversation around an event by their own times, the nearest first."""

    earlier: tuple[NearbyEvent, ...] = ()
    later: tuple[NearbyEvent, ...] = ()


def nearby_events(
    connection: apsw.Connection,
    event: Event,
    limit: int,
    within_ms: int,
    excluded: Container[int] = (),
) -> NearbyEvents:
    """Return up to `limit` earlier and later events of a conversation, at most `within_ms` away.

    Only events with smaller numbers count, without those in `excluded`. Ids of events are in the
    order of their times.
    """
    content = message_of(event)
    conversation = conversation_of(content, event.platform)
    first, end = event.occurred_at - within_ms, event.occurred_at + within_ms + 1

    def nearest(condition: str, order: str, bound: str) -> tuple[NearbyEvent, ...]:
        found = connection.execute(
            "SELECT number, id, occurred_at, coalesce(sender_name, ''), content "
            "FROM events INDEXED BY idx_events_conversation_times "
            f"WHERE conversation = ? AND {condition} AND number < ? ORDER BY id {order}",
            (conversation, event.id, bound, event.number),
        )
        readable = (item for row in found if (item := NearbyEvent(*row)).number not in excluded)
        return tuple(islice(readable, limit))

    return NearbyEvents(
        nearest("id < ? AND id >= ?", "DESC", first_ulid(max(first, 0))),
        nearest("id > ? AND id < ?", "ASC", first_ulid(end)),
    )


def events_beside(
    connection: apsw.Connection,
    event: Event,
    limit: int,
    below: int,
    excluded: Container[int] = (),
    *,
    is_later: bool,
) -> list[Event]:
    """Return up to `limit` events of a conversation said later, or earlier, the nearest first.

    Only events with numbers below `below` count, without those in `excluded`.
    """
    side, order = (">", "ASC") if is_later else ("<", "DESC")
    numbers = connection.execute(
        "SELECT number FROM events INDEXED BY idx_events_conversation_times "
        f"WHERE conversation = ? AND id {side} ? AND number < ? ORDER BY id {order}",
        (conversation_of(message_of(event), event.platform), event.id, below),
    )
    nearest = islice((number for (number,) in numbers if number not in excluded), limit)
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events WHERE number IN (SELECT value FROM json_each(?)) "
        f"ORDER BY id {order}",
        (json_array([*nearest]),),
    )
    return [*map(_event, found)]


def events_in_other_conversations(
    connection: apsw.Connection, event: Event, since: int
) -> list[Event]:
    """Return the events of the same sender in other conversations of the platform.

    Only events from number `since` up to the given event, the latest first.
    """
    content = event.payload
    assert isinstance(content, Content)
    event_rows = connection.execute(
        # A scan by number, since there is no index by sender.
        f"SELECT {_COLUMNS} FROM events NOT INDEXED WHERE number >= ? AND number < ? "
        "AND platform = ? AND sender_id = ? AND conversation <> ? ORDER BY number DESC",
        (
            since,
            event.number,
            event.platform,
            content.sender_id,
            conversation_of(content, event.platform),
        ),
    )
    return [_event(row) for row in event_rows]


def first_message_of_sender(
    connection: apsw.Connection, event: Event, excluded: Container[int] = ()
) -> Event | None:
    """Return the first event of a message's sender in its conversation; None if it is the message.

    Events with numbers in `excluded` count as erased.
    """
    content = message_of(event)
    event_rows = connection.execute(
        f"SELECT {_COLUMNS} FROM events INDEXED BY idx_events_conversation "
        "WHERE conversation = ? AND number < ? AND sender_id = ? ORDER BY number",
        (conversation_of(content, event.platform), event.number, content.sender_id),
    )
    return next(
        (first for row in event_rows if (first := _event(row)).number not in excluded), None
    )


def places_where_said(
    connection: apsw.Connection,
    platforms: Sequence[str],
    sender_id: str,
    occurred_at: int,
    content: str,
) -> list[tuple[str, str | None]]:
    """Return the (platform, peer) pairs in which a sender sent this text at a time (unix ms)."""
    place_rows = rows(
        connection,
        "SELECT DISTINCT platform, peer_id FROM events INDEXED BY idx_events_occurred_at "
        "WHERE occurred_at = ? AND sender_id = ? AND content = ? "
        "AND platform IN (SELECT value FROM json_each(?)) ORDER BY platform, peer_id",
        (occurred_at, sender_id, content, json_array(platforms)),
    )
    return [(platform, peer_id) for platform, peer_id in place_rows]


class Speaker(NamedTuple):
    """A sender under a display name, with the number of the last event under that name."""

    number: int
    platform: str
    sender_id: str
    sender_name: str | None


def speakers_before(
    connection: apsw.Connection, event: Event, since: int, excluded: Container[int] = ()
) -> list[Speaker]:
    """Return the senders of the events around an event, from number `since` up to the event.

    These are the events in all threads with the same peer; if the event has no peer, the events in
    its conversation.
    """
    content = event.payload
    assert isinstance(content, Content)
    column, value = "peer_id", content.peer_id
    if value is None:
        column, value = "conversation", conversation_of(content, event.platform)
    erased = [number for number in range(since, event.number) if number in excluded]
    speaker_rows = connection.execute(
        # A scan by number, since an index by peer would be read from the peer's first event on.
        "SELECT max(number), platform, sender_id, sender_name FROM events NOT INDEXED "
        f"WHERE number >= ? AND number < ? AND platform = ? AND {column} = ? "
        "AND number NOT IN (SELECT value FROM json_each(?)) "
        "GROUP BY sender_id, sender_name ORDER BY 1 DESC",
        (since, event.number, event.platform, value, json_array(erased)),
    )
    return [Speaker(*row) for row in speaker_rows]


def turn_before(
    connection: apsw.Connection, platform: str, turn_id: str, number: int
) -> list[Event]:
    """Return the events of an agent's turn before `number`, in order."""
    return [
        _event(row)
        for row in connection.execute(
            f"SELECT {_COLUMNS} FROM events "
            "WHERE turn_id = ? AND platform = ? AND number < ? ORDER BY number",
            (turn_id, platform, number),
        )
    ]


def revisions_before(connection: apsw.Connection, event: Event, number: int) -> list[Event]:
    """Return the other versions of an event's message before `number`, by number.

    These are the original message, its edits and its deletions.
    """
    payload = event.payload
    assert isinstance(payload, Content)
    message = payload.target if isinstance(payload, Edit | Deletion) else payload.source_id
    revisions = [
        _event(row)
        for row in connection.execute(
            f"SELECT {_COLUMNS} FROM events "
            "WHERE source_id = ?1 AND platform = ?2 AND number < ?3 AND number <> ?4 "
            f"UNION ALL SELECT {_COLUMNS} FROM events INDEXED BY idx_events_target "
            "WHERE target = ?1 AND platform = ?2 AND number < ?3 AND number <> ?4",
            (message, event.platform, number, event.number),
        )
    ]
    for deleted, id_, source_id, sender_id, occurred_at in connection.execute(
        "SELECT number, id, source_id, sender_id, occurred_at FROM deletions "
        "WHERE target = ?1 AND platform = ?2 AND number < ?3 AND number <> ?4",
        (message, event.platform, number, event.number),
    ):
        revisions.append(
            Event(
                zone="",
                number=deleted,
                id=id_,
                platform=event.platform,
                occurred_at=occurred_at,
                ingested_at=occurred_at,
                payload=Deletion(
                    source_id=source_id, sender_id=sender_id, content="", target=message
                ),
            )
        )
    return sorted(revisions, key=lambda item: item.number)


def idle_turns(connection: apsw.Connection, number: int, before_ms: int) -> list[tuple[str, Event]]:
    """Return (turn id, last event) of turns that have no event since `before_ms`.

    Events from `number` on do not count. Earlier versions stored a blank turn id; it is no turn.
    """
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE number IN ("
        "    SELECT max(number) FROM events"
        "    WHERE turn_id IS NOT NULL AND turn_id <> '' AND number < ?"
        "    GROUP BY platform, turn_id HAVING max(occurred_at) < ?"
        ") ORDER BY number",
        (number, before_ms),
    )
    idle = []
    for row in rows:
        event = _event(row)
        assert isinstance(event.payload, Content) and event.payload.turn_id
        idle.append((event.payload.turn_id, event))
    return idle


def latest_time_before(connection: apsw.Connection, before_ms: int) -> int | None:
    """Return the time (unix ms) of the latest event before a time, or None."""
    found: int | None = scalar(
        connection, "SELECT max(occurred_at) FROM events WHERE occurred_at < ?", (before_ms,)
    )
    return found


def latest_time(connection: apsw.Connection) -> int:
    """Return the time of the latest event (unix ms); 0 if there is none."""
    return int(scalar(connection, "SELECT coalesce(max(occurred_at), 0) FROM events"))


def time_of_zone(connection: apsw.Connection) -> int:
    """Return the time of the latest message, or when it was received if that is earlier (unix ms).

    0 if there is none.
    """
    time_rows = rows(
        connection,
        "SELECT min(occurred_at, ingested_at) FROM events WHERE platform <> ? "
        "ORDER BY occurred_at DESC LIMIT 1",
        (RESERVED_PLATFORM,),
    )
    return int(time_rows[0][0]) if time_rows else 0


def latest_ingestion(connection: apsw.Connection) -> int:
    """Return when the latest event was ingested (unix ms); 0 if there is none."""
    return int(scalar(connection, "SELECT coalesce(max(ingested_at), 0) FROM events"))


def sources(connection: apsw.Connection, numbers: Iterable[int]) -> dict[int, Source]:
    """Return number -> source, for the numbers that exist in the zone."""
    found = {}
    for number in numbers:
        row = connection.execute("SELECT key_id FROM seals WHERE number = ?", (number,)).fetchone()
        if row is not None:
            found[number] = Source(number, row[0])
    return found


def event_count(connection: apsw.Connection) -> int:
    """Return the number of readable events."""
    return int(scalar(connection, "SELECT count(*) FROM events"))


def event_numbers(connection: apsw.Connection) -> set[int]:
    """Return the numbers of the events in a file; none if it has no table of events."""
    if not rows(connection, "SELECT 1 FROM sqlite_schema WHERE name = 'events'"):
        return set()
    return {number for (number,) in rows(connection, "SELECT number FROM events")}


class EventCitation(NamedTuple):
    """An event as cited by a result; `sender` is its display name or id, `occurred_at` unix ms."""

    number: int
    platform: str
    source_id: str
    sender: str
    occurred_at: int
    content: str


def citation_of(connection: apsw.Connection, event_id: str) -> EventCitation | None:
    """Return the citation of an event by id; None if it is not readable."""
    found = rows(
        connection,
        "SELECT number, platform, source_id, coalesce(nullif(sender_name, ''), sender_id), "
        "occurred_at, content FROM events WHERE id = ?",
        (event_id,),
    )
    return EventCitation(*found[0]) if found else None


def event_by_id(connection: apsw.Connection, event_id: str) -> Event | None:
    """Return a readable event by id, or None."""
    found = rows(connection, f"SELECT {_COLUMNS} FROM events WHERE id = ?", (event_id,))
    return _event(found[0]) if found else None


def event_by_number(connection: apsw.Connection, number: int) -> Event | None:
    """Return a readable event by number, or None."""
    found = rows(connection, f"SELECT {_COLUMNS} FROM events WHERE number = ?", (number,))
    return _event(found[0]) if found else None


def message_ids(connection: apsw.Connection) -> list[tuple[int, str]]:
    """Return (number, id) of every message, completed turn and edit, in order."""
    return rows(
        connection,
        "SELECT number, id FROM events WHERE kind IN ('message', 'turn_completed', 'edit') "
        "ORDER BY number",
    )


def messages_between(
    connection: apsw.Connection, platform: str | None, first: int | None, last: int | None
) -> Iterator[Event]:
    """Yield every message, completed turn and edit of a platform and a time span, in order.

    Times are unix ms, and both belong to the span; None: no limit.
    """
    for row in connection.execute(
        f"SELECT {_COLUMNS} FROM events WHERE kind IN ('message', 'turn_completed', 'edit') "
        "AND (?1 IS NULL OR platform = ?1) AND (?2 IS NULL OR occurred_at >= ?2) "
        "AND (?3 IS NULL OR occurred_at <= ?3) ORDER BY number",
        (platform, first, last),
    ):
        yield _event(row)


def numbers_of_sources(connection: apsw.Connection, source_ids: Sequence[str]) -> list[int]:
    """Return the numbers of the events with these source ids."""
    found = rows(
        connection,
        "SELECT number FROM events WHERE source_id IN (SELECT value FROM json_each(?))",
        (json_array(source_ids),),
    )
    return [int(number) for (number,) in found]


def first_event_with_id(connection: apsw.Connection, id_: str) -> str | None:
    """Return the id of the first event with this id or source id, or None."""
    found: str | None = scalar(
        connection,
        "SELECT id FROM events WHERE id = ?1 OR source_id = ?1 ORDER BY number LIMIT 1",
        (id_,),
    )
    return found


class MessageKey(NamedTuple):
    """The identifiers of a message, and the turn that it belongs to."""

    number: int
    id: str
    platform: str
    source_id: str
    turn_id: str | None


_MESSAGE_KEYS = "SELECT number, id, platform, source_id, turn_id FROM events"


def by_source_id(
    connection: apsw.Connection, source_id: str, platform: str | None
) -> list[MessageKey]:
    """Return the messages with a source id; with `platform`, only those of that platform."""
    found = rows(
        connection,
        f"{_MESSAGE_KEYS} WHERE source_id = ?1 AND (?2 IS NULL OR platform = ?2) ORDER BY number",
        (source_id, platform),
    )
    return [MessageKey(*row) for row in found]


def by_ids(connection: apsw.Connection, ids: Sequence[str]) -> list[MessageKey]:
    """Return the messages with these ids."""
    found = rows(
        connection,
        f"{_MESSAGE_KEYS} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY number",
        (json_array(ids),),
    )
    return [MessageKey(*row) for row in found]


def by_numbers(connection: apsw.Connection, numbers: Sequence[int]) -> list[MessageKey]:
    """Return the messages with these numbers."""
    found = rows(
        connection,
        f"{_MESSAGE_KEYS} WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number",
        (json_array(numbers),),
    )
    return [MessageKey(*row) for row in found]


def version_numbers(connection: apsw.Connection, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of all versions of the messages to which these events belong.

    Versions are the original, its edits and its deletions.
    """
    number_rows = rows(
        connection,
        """
        WITH named AS (
            SELECT coalesce(target, source_id) AS message, platform FROM events
             WHERE number IN (SELECT value FROM json_each(?))
        )
        SELECT number FROM named JOIN events USING (platform)
         WHERE source_id = message
        UNION
        SELECT number FROM named CROSS JOIN events INDEXED BY idx_events_target
            ON events.target = message AND events.platform = named.platform
        UNION
        SELECT number FROM named CROSS JOIN deletions
            ON deletions.target = message AND deletions.platform = named.platform
        """,
        (json_array(numbers),),
    )
    return [number for (number,) in number_rows]


def numbers_matching(
    connection: apsw.Connection,
    *,
    sender: str | None = None,
    platform: str | None = None,
    thread: str | None = None,
    after: int | None = None,
    before: int | None = None,
) -> list[int]:
    """Return the numbers of the events that match all given criteria; times are unix ms."""
    number_rows = rows(
        connection,
        "SELECT number FROM events WHERE (?1 IS NULL OR sender_id = ?1) "
        "AND (?2 IS NULL OR platform = ?2) AND (?3 IS NULL OR thread_id = ?3) "
        "AND (?4 IS NULL OR occurred_at > ?4) AND (?5 IS NULL OR occurred_at < ?5) "
        "ORDER BY number",
        (sender, platform, thread, after, before),
    )
    return [number for (number,) in number_rows]


def containing_phrase(connection: apsw.Connection, phrase: str) -> list[tuple[int, str, str]]:
    """Return (number, id, text) of events whose index terms match a phrase."""
    quoted = '"' + phrase.replace('"', '""') + '"'
    return rows(
        connection,
        "SELECT number, id, events.content || ' ' || events.caption FROM events_fts "
        "JOIN events ON number = events_fts.rowid WHERE events_fts MATCH ? ORDER BY number",
        (quoted,),
    )


def platforms(connection: apsw.Connection) -> list[str]:
    """Return the platforms of readable events."""
    return [str(name) for (name,) in rows(connection, "SELECT DISTINCT platform FROM events")]


def numbers_of_turn(connection: apsw.Connection, platform: str, turn_id: str) -> list[int]:
    """Return the numbers of the readable events of a turn."""
    found = rows(
        connection,
        "SELECT number FROM events WHERE turn_id = ? AND platform = ? ORDER BY number",
        (turn_id, platform),
    )
    return [number for (number,) in found]


def switch_numbers(connection: apsw.Connection) -> list[int]:
    """Return the numbers of the records that switch chains, ascending."""
    return [number for (number,) in rows(connection, "SELECT number FROM switches ORDER BY number")]


def last_erasure(connection: apsw.Connection, before: int) -> int:
    """Return the number of the last erasure before a record; 0 if there is none."""
    number: int = scalar(
        connection, "SELECT coalesce(max(number), 0) FROM erasures WHERE number < ?", (before,)
    )
    return number


def active_chain(connection: apsw.Connection) -> str | None:
    """Return the chain that the last switch made authoritative, or None without a switch."""
    chain: str | None = scalar(
        connection,
        "SELECT chain FROM switches WHERE chain != ? ORDER BY number DESC LIMIT 1",
        (SWITCH_GAP,),
    )
    return chain


def _event(row: tuple[Any, ...]) -> Event:
    (number, event_id, kind, platform, occurred_at, ingested_at, *values) = row
    fields: dict[str, Any] = dict(
        zip(
            (
                *("source_id", "sender_id", "content", "sender_name", "peer_id", "peer_kind"),
                *("thread_id", "session_id", "direction", "reply_to", "attachments"),
                *("metadata", "turn_id", "utc_offset", "target", "said_at"),
            ),
            values,
            strict=True,
        )
    )
    if kind != "edit":
        del fields["target"], fields["said_at"]
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
