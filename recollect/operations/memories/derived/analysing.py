"""Analyses of episodes: running those that are due, and listing what they found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.ingestion.ingesting import publish_and_decide
from recollect.operations.memories.page_cursors import check_limit, page_of, place_of
from recollect.projections.memory import episode_queries
from recollect.projections.memory.listing import analysis_list
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Analyse
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    Analysis,
    AnalysisPage,
    AnalysisReport,
    AnalysisStatus,
    AnalysisType,
    AnalysisTypes,
    Facet,
    FacetPage,
)

#: Strategy of the episodes that are analysed unless another is given.
DEFAULT_STRATEGY = "time_window"
#: Episodes of one call, by default and at most.
MOST_EPISODES = 1_000
_MOST_EPISODES = 10_000
#: Commands that are published and decided together.
_BATCH = 200


class _Place(msgspec.Struct, frozen=True):
    event_id: str
    start: int
    end: int
    rule: str | None = None
    count: int | None = None


def analyse(
    zone: OpenZone,
    *,
    types: Sequence[str] | None = None,
    episode_id: str | None = None,
    strategy: str = DEFAULT_STRATEGY,
    limit: int = MOST_EPISODES,
    dry_run: bool = False,
) -> AnalysisReport:
    """Analyse the episodes that are due; retry analyses that were blocked or failed.

    In a home with a language model, it runs the types that have a prompt. `dry_run`: estimate what
    that would cost, and analyse nothing.

    Raises:
        UnknownZone: the zone has no events.
        InvalidInput: there is no such type or strategy, or the limit is invalid.
    """
    # Imported here: it loads the rules of language, which a query does not need.
    from recollect.home.ticks.due_analyses import (
        analysis_ids,
        defined_analyses,
        due_commands,
        has_analyst,
    )

    zone.must_exist()
    if not has_analyst(zone.node):
        raise InvalidInput(
            "this home has no agent for analyses; add analyses to its agents (recollect init "
            "--agents)"
        )
    check_limit(limit, most=_MOST_EPISODES)
    home = zone.open_home.home
    own = defined_analyses(home)
    type_ids = analysis_ids(own, types)
    of_model = {each.id for each in own if each.prompt is not None and home.writer == "model"}
    with zone.files() as files:
        known = [
            definition.id
            for definition in episode_queries.episode_definitions(files.memory.connection)
        ]
        if strategy not in known:
            raise InvalidInput(
                f"there is no episode strategy {strategy[:60]!r}; give {', '.join(known)}"
            )
        by_rules, by_model = (
            due_commands(
                files.memory.connection,
                own,
                [type_id for type_id in type_ids if (type_id in of_model) == with_model],
                at=unix_ms(),
                definition=strategy,
                episode_id=episode_id,
                most_retries=None,
                limit=limit,
            )
            for with_model in (False, True)
        )
    wanted = [
        (type_id, draft.payload.episode_id)
        for draft in (*by_rules, *by_model)
        if isinstance(draft.payload, Analyse)
        for type_id in draft.payload.types
    ]
    for first in range(0, 0 if dry_run else len(by_rules), _BATCH):
        publish_and_decide(zone, by_rules[first : first + _BATCH])
    use: dict[str, Any] = {}
    if by_model:
        # Imported here: only analyses by a model need its client.
        from recollect.operations.writing.analysis_writing import (
            analyse_by_model,
            estimate_by_model,
        )

        ask = estimate_by_model if dry_run else analyse_by_model
        use = ask(zone, by_model)._asdict()
    with zone.files() as files:
        statuses = [] if dry_run else analysis_list.statuses(files.memory.connection, wanted)
    counts = {status: statuses.count(status) for status in ("completed", "blocked", "failed")}
    return AnalysisReport(
        requested=len(wanted),
        completed=counts["completed"],
        blocked=counts["blocked"],
        failed=counts["failed"],
        remaining=len(wanted) - sum(counts.values()),
        dry_run=dry_run,
        **use,
    )


def analysis_types(zone: OpenZone) -> AnalysisTypes:
    """Return the built-in types, those that home.json defines, and those that were used before."""
    by_id: dict[str, AnalysisType] = {}
    if zone.exists():
        with zone.files() as files:
            for it in analysis_list.types(files.memory.connection):
                by_id[it.id] = AnalysisType(
                    id=it.id,
                    name=it.name,
                    version=it.version,
                    output_type=it.output_type,
                    prompt=it.prompt_template,
                    patterns=None
                    if it.patterns is None
                    else msgspec.json.decode(it.patterns, type=dict[str, str]),
                    completed=it.completed,
                    blocked=it.blocked,
                    failed=it.failed,
                )
    # Imported here, as above.
    from recollect.home.ticks.due_analyses import defined_analyses

    for own in defined_analyses(zone.open_home.home):
        by_id.setdefault(
            own.id,
            AnalysisType(
                id=own.id,
                name=own.name,
                version=own.version,
                output_type=own.output_type,
                prompt=own.prompt,
                patterns=own.patterns or None,
            ),
        )
    return AnalysisTypes(types=[by_id[id_] for id_ in sorted(by_id)])


def analysis_page(
    zone: OpenZone,
    *,
    type_id: str | None,
    status: AnalysisStatus | None,
    episode_id: str | None,
    cursor: str | None,
    limit: int,
) -> AnalysisPage:
    """Return a page of runs; a cursor is the time of a page's last episode, and its run's id.

    Raises:
        InvalidInput: the cursor or the limit is invalid.
    """
    check_limit(limit)
    after = None if cursor is None else place_of(cursor)
    if not zone.exists():
        return AnalysisPage(analyses=[])
    with zone.files() as files:
        runs = analysis_list.runs(
            files.memory.connection,
            type_id=type_id,
            status=status,
            episode_id=episode_id,
            after=after,
            limit=limit + 1,
        )
    page, more = page_of(runs, limit, lambda run: (run.start_time, run.id))
    return AnalysisPage(analyses=[_analysis(it) for it in page], cursor=more)


def _analysis(it: analysis_list.ListedRun) -> Analysis:
    return Analysis(
        id=it.id,
        type=it.analysis_type_id,
        episode_id=it.episode_id,
        status=it.status,
        text=it.output_text,
        error=it.error_message,
        blocked_reason=it.blocked_reason,
        retries=it.retry_count,
        facets=it.facets,
        previous=it.parent_id,
        episode_start=format_time(it.start_time),
        episode_end=format_time(it.end_time),
        episode_events=it.event_count,
        completed_at=None if it.completed_at is None else format_time(it.completed_at),
    )


def facet_page(
    zone: OpenZone,
    *,
    type_: str | None,
    value: str | None,
    episode_id: str | None,
    cursor: str | None,
    limit: int,
) -> FacetPage:
    """Return a page of facets; a cursor is as in `analysis_page`, with the id of a facet.

    Raises:
        InvalidInput: the cursor or the limit is invalid.
    """
    check_limit(limit)
    after = None if cursor is None else place_of(cursor)
    if not zone.exists():
        return FacetPage(facets=[])
    with zone.files() as files:
        facets = analysis_list.facets(
            files.memory.connection,
            type_=type_,
            value=value,
            episode_id=episode_id,
            after=after,
            limit=limit + 1,
        )
    page, more = page_of(facets, limit, lambda facet: (facet.start_time, facet.id))
    return FacetPage(facets=[_facet(it) for it in page], cursor=more)


def _facet(it: analysis_list.ListedFacet) -> Facet:
    place = msgspec.json.decode(it.metadata_json, type=_Place)
    return Facet(
        id=it.id,
        type=it.facet_type,
        value=it.value,
        analysis_id=it.analysis_run_id,
        analysis_type=it.analysis_type_id,
        episode_id=it.episode_id,
        entity_id=it.entity_id,
        confidence=it.confidence,
        event_id=place.event_id,
        start=place.start,
        end=place.end,
        rule=place.rule,
        count=place.count,
        episode_start=format_time(it.start_time),
    )
