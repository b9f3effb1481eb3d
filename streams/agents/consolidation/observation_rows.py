"""The rows of a version of an observation: its episode, its analysis and what it is about."""

from __future__ import annotations

from collections.abc import Set

import msgspec

from recollect.schemas.changes import (
    AnalysisRun,
    AnalysisType,
    AnyRow,
    DecidedPart,
    Episode,
    EpisodeEvent,
    ObservationVersion,
)
from recollect.schemas.events import Consolidate, Event
from recollect.schemas.ids import row_id
from recollect.schemas.memory_terms import OBSERVATION_BY_MODEL, is_by_model, model_type_id
from recollect.streams.agents.episodes.episode_grouper import open_version
from recollect.streams.agents.state import State

#: The definition of the episodes that observations analyse, and the type of the analyses.
EPISODE_DEFINITION, ANALYSIS_TYPE = "consolidation", "observation_v1"
_REFUSED = "blocked"


def ending(
    event: Event, newest: tuple[ObservationVersion, AnalysisRun], reason: str, state: State
) -> DecidedPart:
    """Return the rows of a version without a text: the observation ends."""
    version = msgspec.structs.replace(newest[0], label="")
    rows = version_rows(event, version, None, newest, set(), state, reason)
    return DecidedPart((event.number,), rows)


def version_rows(
    event: Event,
    version: ObservationVersion,
    text: str | None,
    newest: tuple[ObservationVersion, AnalysisRun] | None,
    events: Set[tuple[str, int, int]],
    state: State,
    reason: str | None = None,
    type_id: str = ANALYSIS_TYPE,
) -> list[AnyRow]:
    """Return the rows of a version: its episode, the episode's new members, and its analysis.

    `events`: the new members (id, number, unix ms). `type_id`: of the analysis; each
    language model has one of its own.
    """
    at = event.occurred_at
    first = row_id(0, "episode", EPISODE_DEFINITION, version.cluster_id)
    known = first if newest is None else newest[1].episode_id
    episode_id, parent = open_version(state, known)
    run = AnalysisRun(
        id=run_id(event, version.cluster_id),
        analysis_type_id=type_id,
        episode_id=episode_id,
        parent_id=None if newest is None else newest[1].id,
        status="completed",
        started_at=at,
        completed_at=at,
        output_text=text,
        error_message=None,
        blocked_reason=reason,
        retry_count=0,
        created_at=at,
    )
    return [
        Episode(episode_id, EPISODE_DEFINITION, None, None, parent, at),
        *(
            EpisodeEvent(episode_id, id_, EPISODE_DEFINITION, *rest)
            for id_, *rest in sorted(events)
        ),
        run,
        msgspec.structs.replace(version, analysis_run_id=run.id, number=event.number),
    ]


def text_of_rules(newest: AnalysisRun, state: State) -> str | None:
    """Return the text that the rules wrote last, which models may have rewritten since."""
    run: AnalysisRun | None = newest
    while run is not None and is_by_model(run.analysis_type_id):
        run = None if run.parent_id is None else state.analysis_run(run.parent_id)
    return None if run is None else run.output_text


def model_type(model: str, role: str) -> AnalysisType:
    """Return the type of the analyses that a model makes; `role`: the version of its prompt."""
    id_ = model_type_id(model, role)
    return AnalysisType(id_, OBSERVATION_BY_MODEL, role, "freeform", None, None)


def refused_rows(
    event: Event, newest: AnalysisRun, type_id: str, reason: str, state: State
) -> list[AnyRow]:
    """Return the analysis of a model's answer that was refused; the version before stands."""
    at = event.occurred_at
    episode_id, parent = open_version(state, newest.episode_id)
    run = AnalysisRun(
        id=row_id(at, "refused observation", event.id),
        analysis_type_id=type_id,
        episode_id=episode_id,
        parent_id=newest.id,
        status=_REFUSED,
        started_at=at,
        completed_at=None,
        output_text=None,
        error_message=None,
        blocked_reason=reason,
        retry_count=0,
        created_at=at,
    )
    return [Episode(episode_id, EPISODE_DEFINITION, None, None, parent, at), run]


def run_id(event: Event, cluster: str) -> str:
    """Return the id of the version that a record writes of the observation on a cluster."""
    if isinstance(event.payload, Consolidate):
        return row_id(event.occurred_at, "observation", event.id)
    return row_id(event.occurred_at, "observation", event.id, cluster)
