"""Paginated listing of episodes, newest first, and their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar


class ListedEpisode(NamedTuple):
    """A version of an episode; times are unix ms. `is_current`: no later version has messages."""

    id: str
    strategy: str
    platform: str | None
    thread_id: str | None
    start_time: int
    end_time: int
    event_count: int
    parent_id: str | None
    is_current: bool


class EpisodeFilter(NamedTuple):
    """A filter of episodes.

    `first` and `end` (exclusive): only those that last from `first` on and begin before `end` (unix
    ms). `ids`: only these.
    """

    strategy: str | None = None
    platform: str | None = None
    first: int | None = None
    end: int | None = None
    ids: Sequence[str] | None = None


_IS_CURRENT = (
    "NOT EXISTS (SELECT 1 FROM episodes AS later "
    "WHERE later.parent_id = episodes.id AND later.event_count > 0)"
)
_COLUMNS = f"""
    episodes.id, strategy, platform, thread_id, start_time, end_time, event_count, parent_id,
    {_IS_CURRENT}
"""
_FROM = "FROM episodes JOIN episode_definitions AS definition ON definition.id = definition_id"
# A version and the versions before it.
_CHAIN = """
    WITH RECURSIVE chain (id) AS (
        SELECT ?1
        UNION
        SELECT parent_id FROM chain JOIN episodes USING (id) WHERE parent_id IS NOT NULL)
"""
_FILTER = f"""
    WHERE event_count > 0 AND {_IS_CURRENT}
      AND (:strategy IS NULL OR strategy = :strategy)
      AND (:platform IS NULL OR platform = :platform)
      AND (:first IS NULL OR end_time >= :first)
      AND (:end IS NULL OR start_time < :end)
      AND (:ids IS NULL OR episodes.id IN (SELECT value FROM json_each(:ids)))
"""


def episodes(
    connection: apsw.Connection, which: EpisodeFilter, after: tuple[int, str], limit: int
) -> list[ListedEpisode]:
    """Return up to `limit` current episodes after the one with (`start_time`, id), newest first."""
    start, id_ = after
    episode_rows = connection.execute(
        f"SELECT {_COLUMNS} {_FROM} {_FILTER} "
        "AND start_time <= :start AND (start_time < :start OR episodes.id < :id) "
        "ORDER BY start_time DESC, episodes.id DESC LIMIT :limit",
        {**_bindings(which), "start": start, "id": id_, "limit": limit},
    )
    return [_listed(row) for row in episode_rows]


def episodes_with_events(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[tuple[str, str]]:
    """Return (event id, episode id) of each episode that has one of these events, by episode id."""
    return rows(
        connection,
        """
        WITH RECURSIVE holding (event_id, id) AS (
            SELECT event_id, episode_id FROM episode_events
             WHERE is_standing AND event_id IN (SELECT value FROM json_each(?))
            UNION
            SELECT event_id, later.id
              FROM holding JOIN episodes AS later ON later.parent_id = holding.id)
        SELECT event_id, id FROM holding ORDER BY id
        """,
        (json_array(event_ids),),
    )


def episodes_beginning(
    connection: apsw.Connection, strategy: str, since: int, until: int
) -> list[ListedEpisode]:
    """Return the current episodes of several messages that begin from `since` until before `until`.

    The times are unix ms; the earliest episode comes first.
    """
    episode_rows = rows(
        connection,
        f"SELECT {_COLUMNS} {_FROM} WHERE event_count > 1 AND {_IS_CURRENT} "
        "AND strategy = ? AND start_time >= ? AND start_time < ? ORDER BY start_time, episodes.id",
        (strategy, since, until),
    )
    return [_listed(row) for row in episode_rows]


def _bindings(which: EpisodeFilter) -> dict[str, object]:
    return which._asdict() | {"ids": None if which.ids is None else json_array(which.ids)}


def _listed(row: tuple[Any, ...]) -> ListedEpisode:
    found = ListedEpisode(*row)
    return found._replace(is_current=bool(found.is_current))


def versions(connection: apsw.Connection, episode_id: str) -> list[ListedEpisode]:
    """Return all versions of an episode, given one, the first version first; empty if unknown."""
    version_rows = rows(
        connection,
        f"""
        WITH RECURSIVE earlier (id, parent_id) AS (
            SELECT id, parent_id FROM episodes WHERE id = ?
            UNION
            SELECT before.id, before.parent_id
              FROM earlier JOIN episodes AS before ON before.id = earlier.parent_id),
        family (id, place) AS (
            SELECT id, 0 FROM earlier WHERE parent_id IS NULL
            UNION
            SELECT later.id, place + 1 FROM family JOIN episodes AS later
                ON later.parent_id = family.id)
        SELECT {_COLUMNS} {_FROM} JOIN family ON family.id = episodes.id
         WHERE event_count > 0 ORDER BY place
        """,
        (episode_id,),
    )
    return [_listed(row) for row in version_rows]


def first_events(connection: apsw.Connection, episode_id: str, limit: int) -> list[str]:
    """Return the ids of the first events of a version of an episode, in the order of their ids."""
    found = rows(
        connection,
        f"{_CHAIN} SELECT event_id FROM chain JOIN episode_events ON episode_id = chain.id "
        "WHERE is_standing ORDER BY event_id LIMIT ?2",
        (episode_id, limit),
    )
    return [str(event) for (event,) in found]


def events(
    connection: apsw.Connection, episode_id: str, after: tuple[int, int], limit: int
) -> list[tuple[int, int, str]]:
    """Return (unix ms, number, id) of up to `limit` events of a version, in this order.

    `after`: only events after the one with this time and number.
    """
    return rows(
        connection,
        f"{_CHAIN} SELECT occurred_at, number, event_id "
        "FROM chain JOIN episode_events ON episode_id = chain.id "
        "WHERE is_standing AND (occurred_at, number) > (?2, ?3) "
        "ORDER BY occurred_at, number LIMIT ?4",
        (episode_id, *after, limit),
    )


def episode_count(connection: apsw.Connection) -> int:
    """Return the number of current episodes."""
    return int(
        scalar(connection, f"SELECT count(*) FROM episodes WHERE event_count > 0 AND {_IS_CURRENT}")
    )
