"""The mentions in events' texts, for listings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows


class ListedMention(NamedTuple):
    """A mention; `entity_id` is the id of the unmerged entity, or "" if none is known."""

    event_id: str
    start: int
    end: int
    text: str
    type: str
    confidence: float
    time: str | None
    entity_id: str
    entity: str | None


def mentions_of_events(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[ListedMention]:
    """Return the distinct mentions in the texts of events, in order, without the senders."""
    mention_rows = rows(
        connection,
        """
        WITH RECURSIVE
        mentioned AS MATERIALIZED (
            SELECT mentions.event_id, char_offset_start, char_offset_end, mention_text,
                   mention_type, confidence, time, mentions.entity_id
              FROM json_each(?) AS given CROSS JOIN mentions ON mentions.event_id = given.value
             WHERE char_offset_start >= 0
        ),
        chain(start, id) AS (
            SELECT DISTINCT entity_id, entity_id FROM mentioned WHERE entity_id <> ''
            UNION
            SELECT start, merged_into FROM chain JOIN entities ON entities.id = chain.id
             WHERE merged_into IS NOT NULL
        ),
        ends(start, id, name) AS (
            SELECT start, entities.id, name FROM chain JOIN entities ON entities.id = chain.id
             WHERE merged_into IS NULL
        )
        SELECT DISTINCT event_id, char_offset_start, char_offset_end, mention_text, mention_type,
               confidence, time, coalesce(ends.id, ''), ends.name
          FROM mentioned LEFT JOIN ends ON ends.start = mentioned.entity_id
         ORDER BY event_id, char_offset_start, char_offset_end, coalesce(ends.id, '') DESC
        """,
        (json_array(event_ids),),
    )
    each_once: dict[tuple[str, int, int, bool], ListedMention] = {}
    for row in mention_rows:
        mention = ListedMention(*row)
        is_date = mention.type in ("DATE", "TIME")
        each_once.setdefault((mention.event_id, mention.start, mention.end, is_date), mention)
    return list(each_once.values())
