"""Analyses for listings: types, runs and facets; and the episodes that are due for an analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import json_array, rows


class ListedType(NamedTuple):
    """A type of analysis, and how many of its runs are completed, blocked and failed."""

    id: str
    name: str
    version: str
    output_type: str
    prompt_template: str | None
    patterns: str | None
    completed: int
    blocked: int
    failed: int


class ListedRun(NamedTuple):
    """A run over an episode; times are unix ms."""

    id: str
    analysis_type_id: str
    episode_id: str
    parent_id: str | None
    status: str
    output_text: str | None
    error_message: str | None
    blocked_reason: str | None
    retry_count: int
    facets: int
    started_at: int
    completed_at: int | None
    start_time: int
    end_time: int
    event_count: int


class ListedFacet(NamedTuple):
    """A result of a run; `metadata_json` says where in which event it is."""

    id: str
    analysis_run_id: str
    analysis_type_id: str
    episode_id: str
    facet_type: str
    value: str
    entity_id: str | None
    confidence: float | None
    metadata_json: str
    start_time: int


class DueEpisode(NamedTuple):
    """An episode that lacks an analysis, and the numbers of all its events."""

    id: str
    end_time: int
    events: tuple[int, ...]
    types: tuple[str, ...]


def types(connection: apsw.Connection) -> list[ListedType]:
    """Return all types of analyses, in order of ids."""
    type_rows = rows(
        connection,
        """
        SELECT type.id, name, version, output_type, prompt_template, patterns,
               count(*) FILTER (WHERE status = 'completed'),
               count(*) FILTER (WHERE status = 'blocked'),
               count(*) FILTER (WHERE status = 'failed')
          FROM analysis_types AS type LEFT JOIN analysis_runs AS run
               ON run.analysis_type_id = type.id
         GROUP BY type.id ORDER BY type.id
        """,
    )
    return [ListedType(*row) for row in type_rows]


def runs(
    connection: apsw.Connection,
    *,
    type_id: str | None,
    status: str | None,
    episode_id: str | None,
    after: tuple[int, str] | None,
    limit: int,
) -> list[ListedRun]:
    """Return runs, those of the latest episodes first.

    `after`: the last run of the previous page, by the start of its episode (unix ms) and its id.
    """
    run_rows = rows(
        connection,
        """
        SELECT run.id, analysis_type_id, run.episode_id, run.parent_id, status, output_text,
               error_message, blocked_reason, retry_count,
               (SELECT count(*) FROM facets WHERE analysis_run_id = run.id),
               started_at, completed_at, start_time, end_time, event_count
          FROM analysis_runs AS run JOIN episodes ON episodes.id = run.episode_id
         WHERE (?1 IS NULL OR analysis_type_id = ?1)
           AND (?2 IS NULL OR status = ?2)
           AND (?3 IS NULL OR run.episode_id = ?3)
           AND (?4 IS NULL OR start_time < ?4 OR (start_time = ?4 AND run.id > ?5))
         ORDER BY start_time DESC, run.id LIMIT ?6
        """,
        (type_id, status, episode_id, *(after or (None, "")), limit),
    )
    return [ListedRun(*row) for row in run_rows]


def facets(
    connection: apsw.Connection,
    *,
    type_: str | None,
    value: str | None,
    episode_id: str | None,
    after: tuple[int, str] | None,
    limit: int,
) -> list[ListedFacet]:
    """Return facets, those of the latest episodes first.

    `type_`: a facet type, or a prefix followed by `*`. `value`: the whole value, in any case.
    `after`: as in `runs`, with the id of a facet.
    """
    prefix = type_[:-1] if type_ is not None and type_.endswith("*") else None
    exact = None if prefix is not None else type_
    facet_rows = rows(
        connection,
        """
        SELECT facets.id, analysis_run_id, analysis_type_id, facets.episode_id, facet_type, value,
               facets.entity_id, confidence, metadata_json, start_time
          FROM facets JOIN episodes ON episodes.id = facets.episode_id
               JOIN analysis_runs AS run ON run.id = analysis_run_id
         WHERE (?1 IS NULL OR facet_type = ?1)
           AND (?2 IS NULL OR substr(facet_type, 1, length(?2)) = ?2)
           AND (?3 IS NULL OR value = ?3 COLLATE NOCASE)
           AND (?4 IS NULL OR facets.episode_id = ?4)
           AND (?5 IS NULL OR start_time < ?5 OR (start_time = ?5 AND facets.id > ?6))
         ORDER BY start_time DESC, facets.id LIMIT ?7
        """,
        (exact, prefix, value, episode_id, *(after or (None, "")), limit),
    )
    return [ListedFacet(*row) for row in facet_rows]


def due_episodes(
    connection: apsw.Connection,
    type_ids: Sequence[str],
    *,
    definition: str | None,
    episode_id: str | None,
    before: int | None,
    most_retries: int | None,
    without_failed: bool,
    limit: int,
) -> list[DueEpisode]:
    """Return the episodes that lack a completed run of one of these types, the earliest first.

    Only the latest version of an episode counts, and only if it ended `before` a time (unix ms). A
    run that was retried `most_retries` times is not due again; if `without_failed`, neither is one
    that failed. A filter that is None does not apply.
    """
    episode_rows = rows(
        connection,
        """
        SELECT episode.id, end_time, json_group_array(wanted.value)
          FROM episodes AS episode JOIN json_each(?1) AS wanted
         WHERE (?2 IS NULL OR definition_id = ?2)
           AND (?3 IS NULL OR episode.id = ?3)
           AND (?4 IS NULL OR end_time < ?4)
           AND event_count > 0
           AND NOT EXISTS (SELECT 1 FROM episodes WHERE parent_id = episode.id)
           AND NOT EXISTS (
                   SELECT 1 FROM analysis_runs
                    WHERE episode_id = episode.id AND analysis_type_id = wanted.value
                      AND (status = 'completed' OR (?6 AND status = 'failed')
                           OR (?5 IS NOT NULL AND retry_count >= ?5)))
         GROUP BY episode.id ORDER BY start_time, episode.id LIMIT ?7
        """,
        (
            json_array(type_ids),
            definition,
            episode_id,
            before,
            most_retries,
            without_failed,
            limit,
        ),
    )
    return [
        DueEpisode(
            id_,
            end_time,
            event_numbers(connection, id_),
            tuple(sorted(msgspec.json.decode(wanted, type=list[str]), key=type_ids.index)),
        )
        for id_, end_time, wanted in episode_rows
    ]


def event_numbers(connection: apsw.Connection, episode_id: str) -> tuple[int, ...]:
    """Return the numbers of all events of an episode, with those of its earlier versions."""
    number_rows = rows(
        connection,
        """
        WITH RECURSIVE version (id) AS (
            SELECT ?
            UNION
            SELECT parent_id FROM version JOIN episodes USING (id) WHERE parent_id IS NOT NULL)
        SELECT DISTINCT number FROM version JOIN episode_events ON episode_id = version.id
         WHERE is_standing ORDER BY number
        """,
        (episode_id,),
    )
    return tuple(number for (number,) in number_rows)


def statuses(connection: apsw.Connection, wanted: Sequence[tuple[str, str]]) -> list[str]:
    """Return the statuses of the runs of these (type, episode); those that exist."""
    status_rows = rows(
        connection,
        """
        SELECT status FROM json_each(?) AS wanted JOIN analysis_runs AS run
               ON run.analysis_type_id = wanted.value ->> 0
                  AND run.episode_id = wanted.value ->> 1
        """,
        (json_array(wanted),),
    )
    return [status for (status,) in status_rows]
