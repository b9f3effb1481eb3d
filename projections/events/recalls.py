"""What recall asks of events.db."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from projections.sqlite import rows


class Said(NamedTuple):
    """The words of an event, what its attachments show, its source's id for it, and who said it."""

    content: str
    caption: str
    source_id: str
    speaker: str

    @property
    def text(self) -> str:
        """What is shown of it."""
        return f"{self.content} [{self.caption}]".strip() if self.caption else self.content


def prepare(connection: apsw.Connection) -> None:
    """Make the view of the full-text index that lists where each term stands."""
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.events_terms "
        "USING fts5vocab(main, events_fts, instance)"
    )


def turns(connection: apsw.Connection) -> list[tuple[int, str, str, str, str, int, int]]:
    """Return (number, id, conversation, platform, sender, time, characters) of every event.

    They come conversation by conversation, each in the ledger's order.
    """
    return rows(
        connection,
        "SELECT number, id, conversation, platform, sender_id, occurred_at, "
        "length(content) + length(caption) FROM events ORDER BY conversation, number",
    )


def occurrences(connection: apsw.Connection, term: str) -> list[int]:
    """Return the number of an event for each time that an index term stands in it."""
    found = rows(connection, "SELECT doc FROM temp.events_terms WHERE term = ?", (term,))
    return [int(number) for (number,) in found]


def said(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, Said]:
    """Return what was said in events, by number."""
    return {
        int(number): Said(str(content), str(caption), str(source), str(speaker))
        for number, content, caption, source, speaker in rows(
            connection,
            "SELECT number, content, caption, source_id, coalesce(sender_name, sender_id) "
            "FROM events "
            f"WHERE number IN ({_marks(numbers)})",
            numbers,
        )
    }


def last_known(connection: apsw.Connection, number: int) -> int:
    """Return when the last turn before a record came to the ledger (unix ms); 0: there is none."""
    found = rows(
        connection,
        "SELECT ingested_at FROM events WHERE number < ? ORDER BY number DESC LIMIT 1",
        (number,),
    )
    return int(found[0][0]) if found else 0


def source_ids(connection: apsw.Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """Return event id -> the source's own id of the events that are readable."""
    return dict(
        rows(
            connection,
            f"SELECT id, source_id FROM events WHERE id IN ({_marks(event_ids)})",
            event_ids,
        )
    )


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
