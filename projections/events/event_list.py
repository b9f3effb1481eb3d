"""Events as a list: the newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import listed, rows


class ListedEvent(NamedTuple):
    """An event as its row has it; the time is unix ms."""

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
    def annotations(self) -> dict[str, Any]:
        """What its source or its writer put beside the words."""
        return _objects.decode(self.metadata)

    @property
    def text(self) -> str:
        """The words with what the attachments show, as recall answers them."""
        return f"{self.content} [{self.caption}]".strip() if self.caption else self.content


_COLUMNS = (
    "id, kind, platform, source_id, sender_id, sender_name, thread_id, occurred_at, content, "
    "caption, metadata"
)
_objects = msgspec.json.Decoder(dict[str, Any])


def events(
    connection: apsw.Connection,
    *,
    among: Sequence[str] | None,
    platform: str | None,
    thread: str | None,
    after: tuple[int, str],
    limit: int,
) -> list[ListedEvent]:
    """Return up to `limit` events that come after (`occurred_at`, id) in the list.

    `among`: only those with these ids; `platform`: only those that came from it; `thread`:
    only those that were said in it.
    """
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events "
        "WHERE occurred_at <= ?1 AND (occurred_at < ?1 OR id < ?2) "
        "AND (?3 IS NULL OR platform = ?3) "
        "AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4))) "
        "AND (?5 IS NULL OR thread_id = ?5) "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?6",
        (*after, platform, None if among is None else listed(among), thread, limit),
    )
    return [ListedEvent(*row) for row in found]


def with_ids(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, ListedEvent]:
    """Return id -> event, of those that are readable."""
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events WHERE id IN (SELECT value FROM json_each(?))",
        (listed(ids),),
    )
    return {row[0]: ListedEvent(*row) for row in found}


class Replacement(NamedTuple):
    """An edit or a deletion that took an event's place (unix ms); a deletion has no words."""

    event_id: str
    by: str
    content: str | None
    at: int


def replacements(connection: apsw.Connection, ids: Sequence[str]) -> list[Replacement]:
    """Return what replaced these events, the latest first."""
    found = rows(
        connection,
        """
        WITH asked AS (
            SELECT id, platform, coalesce(target, source_id) AS message, target IS NULL AS original,
                   occurred_at, number
              FROM events WHERE id IN (SELECT value FROM json_each(?))
        )
        SELECT asked.id, edit.id, edit.content, edit.occurred_at AS at
          FROM asked CROSS JOIN events AS edit INDEXED BY idx_events_target
            ON edit.target = asked.message AND edit.platform = asked.platform
           AND (original OR (edit.occurred_at, edit.number) > (asked.occurred_at, asked.number))
        UNION ALL
        SELECT asked.id, deletions.id, NULL, deletions.occurred_at
          FROM asked CROSS JOIN deletions
            ON deletions.target = asked.message AND deletions.platform = asked.platform
         ORDER BY at DESC
        """,
        (listed(ids),),
    )
    return [Replacement(*row) for row in found]
