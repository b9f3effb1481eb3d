"""Queries of recall over events.db."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows


class EventText(NamedTuple):
    """The text of an event, captions of its attachments, its source id, and its sender's name."""

    content: str
    caption: str
    source_id: str
    speaker: str

    @property
    def text(self) -> str:
        """The content with the captions, as shown."""
        # The content is not stripped, since offsets in it are stored.
        caption = f"[{self.caption}]" if self.caption else ""
        return " ".join(part for part in (self.content, caption) if part)


#: (number, id, conversation, platform, sender, unix ms, content, caption, kind, direction).
Turn = tuple[int, str, str, str, str, int, str, str, str, str | None]


def turns_after(connection: apsw.Connection, number: int, limit: int) -> list[Turn]:
    """Return up to `limit` events after a number, in ledger order."""
    return rows(
        connection,
        "SELECT number, id, conversation, platform, sender_id, occurred_at, content, caption, "
        "kind, direction FROM events WHERE number > ? ORDER BY number LIMIT ?",
        (number, limit),
    )


def numbers(connection: apsw.Connection, event_ids: Sequence[str]) -> dict[str, int]:
    """Return event id -> number, for readable events."""
    return dict(
        rows(
            connection,
            "SELECT id, number FROM events WHERE id IN (SELECT value FROM json_each(?))",
            (json_array(event_ids),),
        )
    )


def latest_event_time(connection: apsw.Connection) -> tuple[int, int] | None:
    """Return (unix ms, sender's UTC offset in minutes) of the latest event, or None.

    Events dated after their arrival, such as appointments, are ignored unless all events are.
    """
    for condition in ("occurred_at <= ingested_at", "true"):
        time_rows = rows(
            connection,
            f"SELECT occurred_at, utc_offset FROM events WHERE {condition} "
            "ORDER BY occurred_at DESC, number DESC LIMIT 1",
        )
        if time_rows:
            return int(time_rows[0][0]), int(time_rows[0][1])
    return None


def event_texts(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, EventText]:
    """Return event number -> text."""
    return {
        number: EventText(*columns)
        for number, *columns in rows(
            connection,
            "SELECT number, content, caption, source_id, coalesce(sender_name, sender_id) "
            "FROM events WHERE number IN (SELECT value FROM json_each(?))",
            (json_array(numbers),),
        )
    }


def utc_offsets(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, int]:
    """Return event number -> the sender's UTC offset in minutes."""
    return dict(
        rows(
            connection,
            "SELECT number, utc_offset FROM events "
            "WHERE number IN (SELECT value FROM json_each(?))",
            (json_array(numbers),),
        )
    )


def replaced_numbers(connection: apsw.Connection) -> list[int]:
    """Return the numbers of the turns that were replaced by an edit, or deleted."""
    # CROSS JOIN makes the planner start from the few revisions; it might scan all turns otherwise.
    number_rows = rows(
        connection,
        """
        SELECT original.number FROM events AS edit INDEXED BY idx_events_target
               CROSS JOIN events AS original
            ON original.source_id = edit.target AND original.platform = edit.platform
           AND original.target IS NULL
         WHERE edit.target IS NOT NULL
        UNION
        SELECT older.number FROM events AS older INDEXED BY idx_events_target
               CROSS JOIN events AS newer INDEXED BY idx_events_target
            ON newer.target = older.target AND newer.platform = older.platform
           AND (newer.occurred_at, newer.number) > (older.occurred_at, older.number)
         WHERE older.target IS NOT NULL
        UNION
        SELECT original.number FROM deletions CROSS JOIN events AS original
            ON original.source_id = deletions.target AND original.platform = deletions.platform
        UNION
        SELECT edit.number FROM deletions CROSS JOIN events AS edit INDEXED BY idx_events_target
            ON edit.target = deletions.target AND edit.platform = deletions.platform
         ORDER BY 1
        """,
    )
    return [number for (number,) in number_rows]


class MessageVersion(NamedTuple):
    """An earlier version of a message, and when it was replaced (unix ms)."""

    id: str
    content: str
    replaced_at: int


def versions_before(
    connection: apsw.Connection, numbers: Sequence[int]
) -> dict[int, list[MessageVersion]]:
    """Return event number -> the previous version, for turns that are edits."""
    versions: dict[int, list[MessageVersion]] = {}
    for number, id_, content, at in rows(
        connection,
        """
        SELECT edit.number, older.id, older.content, edit.occurred_at
          FROM events AS edit CROSS JOIN events AS older
            ON older.platform = edit.platform
           AND older.number = coalesce(
                (SELECT number FROM events AS other INDEXED BY idx_events_target
                  WHERE other.target = edit.target AND other.platform = edit.platform
                    AND (other.occurred_at, other.number) < (edit.occurred_at, edit.number)
                  ORDER BY other.occurred_at DESC, other.number DESC LIMIT 1),
                (SELECT number FROM events AS original
                  WHERE original.source_id = edit.target AND original.platform = edit.platform))
         WHERE edit.number IN (SELECT value FROM json_each(?)) AND edit.target IS NOT NULL
        """,
        (json_array(numbers),),
    ):
        versions.setdefault(number, []).append(MessageVersion(id_, content, at))
    return versions


def ingested_before(connection: apsw.Connection, number: int) -> int:
    """Return the ingestion time (unix ms) of the last turn before a number; 0 if there is none."""
    found = rows(
        connection,
        "SELECT ingested_at FROM events WHERE number < ? ORDER BY number DESC LIMIT 1",
        (number,),
    )
    return int(found[0][0]) if found else 0


def source_ids(connection: apsw.Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """Return event id -> source id, for readable events, in the order of the ledger."""
    if not event_ids:
        return {}
    return dict(
        rows(
            connection,
            "SELECT id, source_id FROM events WHERE id IN (SELECT value FROM json_each(?)) "
            "ORDER BY number",
            (json_array(event_ids),),
        )
    )
