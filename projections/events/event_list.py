"""Events as a list: the newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import json_array, rows


class ListedEvent(NamedTuple):
    """An event as its row has it; the time is unix ms."""

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
    def annotations(self) -> dict[str, Any]:
        """What its source or its writer put beside the words."""
        return _objects.decode(self.metadata)

    @property
    def text(self) -> str:
        """The words with what the attachments show, as recall answers them."""
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
    """Return up to `limit` events that come after (`occurred_at`, id) in the list.

    `among`: only those with these ids; `platform`: only those that came from it; `thread`:
    only those that were said in it; `source_ids`: only those with these; `metadata`: only those
    whose metadata has these texts, each under a key, or under keys with dots between them.
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
    for column, some in (("id", among), ("source_id", source_ids)):
        if some is not None:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            bindings.append(json_array(some))
    for keys, text in metadata.items():
        conditions.append("metadata ->> ? = ?")
        bindings += [_path(keys), text]
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events WHERE {' AND '.join(conditions)} "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?",
        (*bindings, limit),
    )
    return [ListedEvent(*row) for row in found]


def _path(keys: str) -> str:
    """Return keys with dots between them as a path of JSON."""
    return "$" + "".join(f'."{key}"' for key in keys.split("."))


def ids_of_sources(connection: apsw.Connection, source_ids: Sequence[str]) -> list[str]:
    """Return the ids of the events with these source ids."""
    found = rows(
        connection,
        "SELECT id FROM events WHERE source_id IN (SELECT value FROM json_each(?))",
        (json_array(source_ids),),
    )
    return [str(id_) for (id_,) in found]


def with_ids(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, ListedEvent]:
    """Return id -> event, of those that are readable."""
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(ids),),
    )
    return {event.id: event for event in (ListedEvent(*row) for row in found)}


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
        (json_array(ids),),
    )
    return [Replacement(*row) for row in found]
