"""Paginated listing of events, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import json_array, rows, scalar


class ListedEvent(NamedTuple):
    """A row of the table of events; `occurred_at` is unix ms, `metadata` JSON."""

    number: int
    id: str
    kind: str
    platform: str
    source_id: str
    sender_id: str
    sender_name: str | None
    thread_id: str | None
    occurred_at: int
    content: str
    caption: str
    metadata: str

    @property
    def decoded_metadata(self) -> dict[str, Any]:
        """The metadata as a dictionary."""
        return _objects.decode(self.metadata)

    @property
    def text(self) -> str:
        """The content with captions of attachments, as in results of recall."""
        return f"{self.content} [{self.caption}]".strip() if self.caption else self.content


_COLUMNS = (
    "number, id, kind, platform, source_id, sender_id, sender_name, thread_id, occurred_at, "
    "content, caption, metadata"
)
_objects = msgspec.json.Decoder(dict[str, Any])


def events(
    connection: apsw.Connection,
    *,
    among: Sequence[str] | None,
    platform: str | None,
    thread: str | None,
    source_ids: Sequence[str] | None,
    metadata: Mapping[str, str],
    after: tuple[int, str],
    limit: int,
) -> list[ListedEvent]:
    """Return up to `limit` events that follow the event `after` (`occurred_at`, id) in the list.

    Filters: `among` (event ids), `platform`, `thread`, `source_ids`, and `metadata` (key -> value;
    a key may be a dotted path).
    """
    at, id_ = after
    conditions = ["occurred_at <= ? AND (occurred_at < ? OR id < ?)"]
    bindings: list[object] = [at, at, id_]
    if platform is not None:
        conditions.append("platform = ?")
        bindings.append(platform)
    if thread is not None:
        conditions.append("thread_id = ?")
        bindings.append(thread)
    for column, values in (("id", among), ("source_id", source_ids)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            bindings.append(json_array(values))
    for dotted_keys, text in metadata.items():
        conditions.append("metadata ->> ? = ?")
        bindings += [_json_path(dotted_keys), text]
    event_rows = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events WHERE {' AND '.join(conditions)} "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?",
        (*bindings, limit),
    )
    return [ListedEvent(*row) for row in event_rows]


def _json_path(dotted_keys: str) -> str:
    """Return the JSON path of dotted keys."""
    return "$" + "".join(f'."{key}"' for key in dotted_keys.split("."))


def utc_offset(connection: apsw.Connection, event_id: str) -> int | None:
    """Return the UTC offset of an event's sender, in minutes; None if it is not readable."""
    found: int | None = scalar(
        connection, "SELECT utc_offset FROM events WHERE id = ?", (event_id,)
    )
    return found


def utc_offset_range(connection: apsw.Connection) -> tuple[int, int]:
    """Return the least and the greatest UTC offset of all senders, in minutes; 0 without events."""
    # Two subqueries, since only a single min or max is read from an index.
    found = rows(
        connection,
        "SELECT coalesce((SELECT min(utc_offset) FROM events), 0), "
        "coalesce((SELECT max(utc_offset) FROM events), 0)",
    )
    least, greatest = found[0]
    return least, greatest


def time_range(connection: apsw.Connection) -> tuple[int | None, int | None]:
    """Return the times of the first and the latest event (unix ms); None without events."""
    # Two subqueries, as above.
    found = rows(
        connection,
        "SELECT (SELECT min(occurred_at) FROM events), (SELECT max(occurred_at) FROM events)",
    )
    first, last = found[0]
    return first, last


def ids_of_sources(connection: apsw.Connection, source_ids: Sequence[str]) -> list[str]:
    """Return the ids of the events with these source ids."""
    found = rows(
        connection,
        "SELECT id FROM events WHERE source_id IN (SELECT value FROM json_each(?))",
        (json_array(source_ids),),
    )
    return [str(id_) for (id_,) in found]


def with_ids(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, ListedEvent]:
    """Return id -> event, for readable events."""
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(ids),),
    )
    return {event.id: event for event in (ListedEvent(*row) for row in found)}


def senders(connection: apsw.Connection, ids: Sequence[str]) -> set[tuple[str, str]]:
    """Return the (platform, sender id) of the senders of events."""
    found = rows(
        connection,
        "SELECT DISTINCT platform, sender_id FROM events "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(ids),),
    )
    return {(str(platform), str(sender)) for platform, sender in found}


class Replacement(NamedTuple):
    """An edit or deletion of the event `event_id`; `at` is unix ms.

    `by`: id of the event that edits or deletes it. `content`: the new text; None for a deletion.
    """

    event_id: str
    by: str
    content: str | None
    at: int


def replacements(connection: apsw.Connection, ids: Sequence[str]) -> list[Replacement]:
    """Return the edits and deletions of these events, the latest first.

    Of the edits that follow another edit, only the newest is returned: all versions of a message
    have as many replacements together as there are versions.
    """
    revision_rows = rows(
        connection,
        """
        WITH requested AS MATERIALIZED (
            SELECT id, platform, coalesce(target, source_id) AS message, target IS NULL AS original
              FROM events WHERE id IN (SELECT value FROM json_each(?))
        ), edits AS MATERIALIZED (
            SELECT edit.id, message, edit.platform, content, occurred_at AS at, number,
                   row_number() OVER (
                       PARTITION BY message, edit.platform ORDER BY occurred_at DESC, number DESC
                   ) AS age
              FROM (SELECT DISTINCT message, platform FROM requested) AS messages
              CROSS JOIN events AS edit INDEXED BY idx_events_target
                ON edit.target = message AND edit.platform = messages.platform
        ), newest AS MATERIALIZED (SELECT * FROM edits WHERE age = 1)
        SELECT requested.id, edits.id, content, at, number
          FROM requested CROSS JOIN edits USING (message, platform) WHERE original
        UNION ALL
        SELECT requested.id, newest.id, content, at, number
          FROM requested CROSS JOIN newest USING (message, platform)
         WHERE NOT original AND requested.id <> newest.id
        UNION ALL
        SELECT requested.id, deletions.id, NULL, deletions.occurred_at, deletions.number
          FROM requested CROSS JOIN deletions
            ON deletions.target = requested.message AND deletions.platform = requested.platform
         ORDER BY at DESC, number DESC
        """,
        (json_array(ids),),
    )
    return [Replacement(*row[:-1]) for row in revision_rows]
