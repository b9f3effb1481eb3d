"""Events as a list: the newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from projections.sqlite import listed, rows


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

    @property
    def text(self) -> str:
        """The words with what the attachments show, as recall answers them."""
        return f"{self.content} [{self.caption}]".strip() if self.caption else self.content


_COLUMNS = (
    "id, kind, platform, source_id, sender_id, sender_name, thread_id, occurred_at, content, "
    "caption"
)


def events(
    connection: apsw.Connection,
    *,
    among: Sequence[str] | None,
    platform: str | None,
    after: tuple[int, str],
    limit: int,
) -> list[ListedEvent]:
    """Return up to `limit` events that come after (`occurred_at`, id) in the list.

    `among`: only those with these ids; `platform`: only those that came from it.
    """
    found = rows(
        connection,
        f"SELECT {_COLUMNS} FROM events "
        "WHERE occurred_at <= ?1 AND (occurred_at < ?1 OR id < ?2) "
        "AND (?3 IS NULL OR platform = ?3) "
        "AND (?4 IS NULL OR id IN (SELECT value FROM json_each(?4))) "
        "ORDER BY occurred_at DESC, id DESC LIMIT ?5",
        (*after, platform, None if among is None else listed(among), limit),
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
