"""Events with what stands beside their words: who may find them is decided by that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import listed, rows


class AnnotatedEvent(NamedTuple):
    """An event with its metadata; the time is unix ms, `target` the message that it edits."""

    number: int
    id: str
    kind: str
    source_id: str
    target: str | None
    sender_id: str
    thread_id: str | None
    session_id: str | None
    occurred_at: int
    content: str
    metadata: dict[str, Any]

    @property
    def message(self) -> str:
        """The source id of the message that it is a version of."""
        return self.target or self.source_id


_COLUMNS = (
    "number, id, kind, source_id, target, sender_id, thread_id, session_id, occurred_at, content, "
    "metadata"
)
_objects = msgspec.json.Decoder(dict[str, Any])


def of_platform(
    connection: apsw.Connection, platform: str, said: Mapping[str, str]
) -> list[AnnotatedEvent]:
    """Return a platform's events in order; `said`: what must stand at paths of their metadata."""
    further = "".join(" AND metadata ->> ? = ?" for _ in said)
    given = [part for pair in said.items() for part in pair]
    return _events(connection, f"platform = ?{further}", [platform, *given])


def versions(
    connection: apsw.Connection, platform: str, message: str | None
) -> list[AnnotatedEvent]:
    """Return a message and its edits, in order, by the message's source id."""
    ids = rows(
        connection,
        "SELECT id FROM events WHERE source_id = ?1 AND platform = ?2 "
        "UNION SELECT id FROM events INDEXED BY idx_events_target "
        "WHERE target = ?1 AND platform = ?2",
        (message, platform),
    )
    return with_ids(connection, [id_ for (id_,) in ids])


def taken_back(connection: apsw.Connection, platform: str) -> set[str]:
    """Return the source ids of a platform's messages that were deleted there."""
    found = rows(connection, "SELECT target FROM deletions WHERE platform = ?", (platform,))
    return {target for (target,) in found}


def with_ids(connection: apsw.Connection, ids: Sequence[str]) -> list[AnnotatedEvent]:
    """Return the readable events with these ids, in order."""
    return _events(connection, "id IN (SELECT value FROM json_each(?))", [listed(ids)])


def _events(
    connection: apsw.Connection, condition: str, bindings: Sequence[object]
) -> list[AnnotatedEvent]:
    found = rows(
        connection, f"SELECT {_COLUMNS} FROM events WHERE {condition} ORDER BY number", bindings
    )
    return [AnnotatedEvent._make((*row[:-1], _objects.decode(row[-1]))) for row in found]
