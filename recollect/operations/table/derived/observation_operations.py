"""Operations on observations: what several facts say, with evidence and history."""

from __future__ import annotations

from typing import Annotated, Any

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.derived import consolidating, dreaming
from recollect.operations.memories.derived import observation_reports as listed
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import (
    PAGE,
    Cursor,
    Entity,
    KnownAt,
    Limit,
    ObservationId,
    described,
)
from recollect.schemas.wire import (
    ConsolidationReport,
    DreamPage,
    DreamReport,
    Observation,
    ObservationHistory,
    ObservationPage,
    WriteReport,
)

_ID = "01KR3XZBC0MTPV7D6B8F2Q9JXE"
_FACT_ID = "01KR3XZBC0V7D6B8F2Q9JXE0MT"
_TEXT = "Ada – home: Turin (said 8 May 2026); then Lima (said 9 Jun 2026)."
_FIRST, _SECOND = "Turin (said 8 May 2026)", "then Lima (said 9 Jun 2026)"
_OBSERVATION: dict[str, Any] = {
    "id": _ID,
    "text": _TEXT,
    "kind": "history",
    "topic": "home",
    "entity_id": "0000000000F2Q9JXE0MTPV7D6B",
    "items": [
        {"text": _FIRST, "fact_id": _FACT_ID, "start": 12, "end": 35},
        {"text": _SECOND, "fact_id": _FACT_ID, "start": 37, "end": 64},
    ],
    "source_event_ids": ["m1", "m2"],
    "sources": 2,
    "days": 2,
    "speakers": 1,
    "first_said": "2026-05-08T13:56:00.000Z",
    "last_said": "2026-06-09T13:56:00.000Z",
    "confidence": "low",
    "trend": "stable",
    "is_stale": False,
    "previous": None,
    "current": True,
    "updated_at": "2026-06-09T13:56:00.000Z",
}
_TAG = "observations"


@operation(
    "GET /observations",
    right="read",
    title="List observations",
    tag=_TAG,
    tool=Tool(
        verb="list",
        title="List observations",
        description="List the observations, newest first: summaries of several facts about one "
        f"topic, with a measure of the evidence. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"limit": 20},
        hidden=frozenset({"superseded", "known_at"}),
    ),
    example=(None, {"observations": [_OBSERVATION], "cursor": None}),
)
def observations(
    zone: OpenZone,
    *,
    entity: Entity = None,
    superseded: Annotated[bool, described(description="Include earlier versions.")] = False,
    known_at: KnownAt = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> ObservationPage:
    """Return a page of the observations, newest first.

    Raises:
        InvalidInput: the entity is unknown, or the time is invalid.

    >>> [observation.text for observation in zone.observations()]
    []
    """
    return listed.observation_page(
        zone, entity=entity, superseded=superseded, known_at=known_at, cursor=cursor, limit=limit
    )


@operation(
    "GET /observations/{id}",
    right="read",
    title="Get an observation",
    tag=_TAG,
    example=(None, _OBSERVATION),
)
def observation(zone: OpenZone, id: ObservationId) -> Observation:
    """Return one version of an observation.

    Raises:
        UnknownId: the zone has no observation with this id.

    >>> for observation in zone.observations():
    ...     print(zone.observation(observation.id).items)
    """
    return listed.observation(zone, id)


@operation(
    "GET /observations/{id}/history",
    right="read",
    title="Get the history of an observation",
    tag=_TAG,
    example=(
        None,
        {
            "versions": [
                {
                    "id": _ID,
                    "at": "2026-06-09T13:56:00.000Z",
                    "text": _TEXT,
                    "reason": None,
                    "added": [_FIRST, _SECOND],
                    "removed": [],
                }
            ]
        },
    ),
)
def observation_history(zone: OpenZone, id: ObservationId) -> ObservationHistory:
    """Return all versions of an observation, oldest first; `id` may be the id of any version.

    Raises:
        UnknownId: the zone has no observation with this id.

    >>> for observation in zone.observations():
    ...     print(len(zone.observation_history(observation.id).versions))
    """
    return listed.observation_history(zone, id)


@operation(
    "POST /observations/consolidate",
    right="write",
    title="Consolidate",
    tag=_TAG,
    example=({}, {"written": 3, "ended": 1, "consolidates": True}),
)
def consolidate(zone: OpenZone) -> ConsolidationReport:
    """Update all observations, and run the daily jobs, which find patterns and merge duplicates.

    Workers and imports do this by themselves. Nothing is written unless the home has the agent
    `consolidation`.

    >>> zone.consolidate().ended
    0
    """
    return consolidating.consolidate(zone)


@operation(
    "POST /observations/write",
    right="write",
    title="Write observations with a model",
    tag=_TAG,
    example=(
        {"limit": 10},
        {
            "model": "small-model",
            "role": "consolidate-1",
            "pending": 3,
            "processed": 3,
            "failed": 0,
            "accepted": 2,
            "duplicates": 0,
            "rejected": 1,
            "reasons": {},
            "calls": 3,
            "tokens": 2100,
            "cost": 0.0,
            "dry_run": False,
            "recorded": 0,
            "min_calls": 0,
            "min_tokens": 0,
            "min_cost": 0.0,
            "stopped": None,
        },
    ),
)
def write_observations(
    zone: OpenZone,
    *,
    limit: Annotated[
        int | None,
        described(description="The maximum number of observations; null: all.", minimum=1),
    ] = None,
    dry_run: Annotated[
        bool, described(description="Estimate the cost without calling the model.")
    ] = False,
) -> WriteReport:
    """Let the home's language model write observations that are new or changed since it last wrote.

    Each answer is recorded, so that it is paid for once. It is accepted only as a whole: every
    sentence must cite facts that have its numbers, names, days and negations. `accepted` counts the
    versions written, `rejected` the answers refused, `duplicates` those with nothing new.

    Raises:
        InvalidInput: the home's writer is `rules`, or no model account is configured.

    >>> zone.write_observations(dry_run=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    recollect.schemas.errors.InvalidInput: ...
    """
    # Imported here: only writing needs a model's client.
    from recollect.operations.writing.observation_writing import write_observations as write

    return write(zone, limit=limit, dry_run=dry_run)


_DREAM: dict[str, Any] = {
    "id": _ID,
    "bridge": "both need much time alone",
    "insight": "Ada may look for quiet in pottery as much as in running.",
    "surprise": 0.8,
    "fact_ids": [_FACT_ID],
    "model": "gpt-5-mini",
    "found_at": "2026-06-09T13:56:00.000Z",
    "is_conjecture": True,
}


@operation(
    "GET /dreams",
    right="read",
    title="List dreams",
    tag=_TAG,
    example=(None, {"dreams": [_DREAM], "cursor": None}),
)
def dreams(zone: OpenZone, *, cursor: Cursor = None, limit: Limit = PAGE) -> DreamPage:
    """Return a page of the dreams, newest first: conjectures, which recall never returns.

    >>> [dream.insight for dream in zone.dreams()]
    []
    """
    return dreaming.dream_page(zone, cursor=cursor, limit=limit)


@operation(
    "POST /dreams",
    right="write",
    title="Dream",
    tag=_TAG,
    example=(
        {"dry_run": False},
        {
            "found": 1,
            "pairs": 6,
            "candidates": 2,
            "reason": None,
            "max_calls": 0,
            "max_cost": 0.0,
        },
    ),
)
def dream(
    zone: OpenZone,
    *,
    dry_run: Annotated[
        bool, described(description="Estimate the cost without calling the model.")
    ] = False,
) -> DreamReport:
    """Run the daily jobs, then let the language model look for dreams: links between topics.

    Raises:
        Unavailable: no model answered, or a spending limit is reached.

    >>> zone.dream().found
    0
    """
    return dreaming.dream(zone, dry_run=dry_run)


class ObservationOperations:
    """Observations of a zone."""

    observations = observations
    observation = observation
    observation_history = observation_history
    consolidate = consolidate
    write_observations = write_observations
    dreams = dreams
    dream = dream
