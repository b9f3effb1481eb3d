"""Queries of memory.db by agents about episodes."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from recollect.projections.sqlite import rows, scalar
from recollect.schemas.changes import EpisodeEvent
from recollect.schemas.choices import EpisodeStrategy


class EpisodeDefinition(NamedTuple):
    """How events are grouped. `parameters`: the parameters of the strategy, as JSON."""

    id: str
    strategy: EpisodeStrategy
    parameters: str


class EpisodeState(NamedTuple):
    """An episode as decisions see it. `is_analysed`: immutable; changes make a new version."""

    parent_id: str | None
    is_analysed: bool


def episode_definitions(connection: apsw.Connection) -> list[EpisodeDefinition]:
    """Return all definitions, in order of ids."""
    found = rows(connection, "SELECT id, strategy, parameters FROM episode_definitions ORDER BY id")
    return [EpisodeDefinition(*row) for row in found]


def episode(connection: apsw.Connection, episode_id: str) -> EpisodeState | None:
    """Return the state of an episode; None if it does not exist."""
    found = connection.execute(
        "SELECT parent_id, EXISTS (SELECT 1 FROM analysis_runs WHERE episode_id = episodes.id) "
        "FROM episodes WHERE id = ?",
        (episode_id,),
    ).fetchone()
    return None if found is None else EpisodeState(found[0], bool(found[1]))


def episode_of_event(connection: apsw.Connection, event_id: str, definition_id: str) -> str | None:
    """Return the id of the episode that an event is in under a definition; None if in none."""
    found: str | None = scalar(
        connection,
        "SELECT episode_id FROM episode_events "
        "WHERE event_id = ? AND definition_id = ? AND is_standing",
        (event_id, definition_id),
    )
    return found


def episode_members(connection: apsw.Connection, episode_id: str) -> list[EpisodeEvent]:
    """Return the events of one version of an episode, in the order of their times."""
    found = rows(
        connection,
        f"SELECT {', '.join(EpisodeEvent.__struct_fields__)} FROM episode_events "
        "WHERE episode_id = ? AND is_standing ORDER BY event_id",
        (episode_id,),
    )
    return [EpisodeEvent(*row) for row in found]
