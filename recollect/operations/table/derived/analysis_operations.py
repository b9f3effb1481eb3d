"""Operations on analyses: what was found in the episodes of a zone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.derived import analysing
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import PAGE, Cursor, Limit, described
from recollect.schemas.wire import (
    AnalysisPage,
    AnalysisReport,
    AnalysisStatus,
    AnalysisTypes,
    FacetPage,
)

_AT, _LATER = "2026-05-08T13:56:00.000Z", "2026-05-08T14:10:00.000Z"
_EPISODE, _RUN, _FACET = (
    "01KR3XZBC0EPS0D3W1Y8C1K7AB",
    "0000000000RVN5XV8YZVBG9TN4",
    "0000000000FCT5XV8YZVBG9TN4",
)

EpisodeId = Annotated[
    str | None, described(description="Only results about the episode with this id.")
]
TypeId = Annotated[
    str | None,
    described(description="Only analyses of this type, such as summary_v1 or pii_v1."),
]


@operation(
    "GET /analysis-types",
    right="read",
    title="List analysis types",
    tag="analyses",
    example=(
        None,
        {
            "types": [
                {
                    "id": "summary_v1",
                    "name": "summary",
                    "version": "1",
                    "output_type": "text",
                    "prompt": None,
                    "patterns": None,
                    "completed": 12,
                    "blocked": 0,
                    "failed": 0,
                }
            ]
        },
    ),
)
def analysis_types(zone: OpenZone) -> AnalysisTypes:
    """Return the types of analyses, each with the number of runs by status.

    >>> [each.id for each in zone.analysis_types().types if each.name == "summary"]
    ['summary_v1']
    """
    return analysing.analysis_types(zone)


@operation(
    "GET /analyses",
    right="read",
    title="List analyses",
    tag="analyses",
    tool=Tool(
        verb="list",
        title="List analyses",
        description="List the analyses of episodes, which are stretches of conversation: a summary "
        "(type summary_v1), or the participants, decisions, open questions and next steps "
        f"(conversation_v1). The latest episodes come first. {DATA_WARNING}",
        quotes_memories=True,
    ),
    example=(
        None,
        {
            "analyses": [
                {
                    "id": _RUN,
                    "type": "summary_v1",
                    "episode_id": _EPISODE,
                    "status": "completed",
                    "text": "2026-05-08\nAda: I moved to Turin.",
                    "error": None,
                    "blocked_reason": None,
                    "retries": 0,
                    "facets": 1,
                    "previous": None,
                    "episode_start": _AT,
                    "episode_end": _LATER,
                    "episode_events": 4,
                    "completed_at": _LATER,
                }
            ],
            "cursor": None,
        },
    ),
)
def analyses(
    zone: OpenZone,
    *,
    type: TypeId = None,
    status: Annotated[
        AnalysisStatus | None,
        described(description="Only runs with this status."),
    ] = None,
    episode_id: EpisodeId = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> AnalysisPage:
    """Return the analyses of episodes, those of the latest episodes first.

    >>> zone.analyse(episode_id="none").requested
    0
    >>> len(zone.analyses(type="summary_v1"))
    0
    """
    return analysing.analysis_page(
        zone, type_id=type, status=status, episode_id=episode_id, cursor=cursor, limit=limit
    )


@operation(
    "POST /analyses",
    right="write",
    title="Analyse episodes",
    tag="analyses",
    example=(
        {"types": ["summary_v1"]},
        {
            "requested": 3,
            "completed": 3,
            "blocked": 0,
            "failed": 0,
            "remaining": 0,
            "calls": 0,
            "tokens": 0,
            "cost": 0.0,
            "dry_run": False,
            "stopped": None,
        },
    ),
)
def analyse(
    zone: OpenZone,
    *,
    types: Annotated[
        Sequence[str] | None,
        described(description="Ids of types of analysis; all types if omitted."),
    ] = None,
    episode_id: Annotated[
        str | None,
        described(description="Id of one episode; if omitted, all that have ended."),
    ] = None,
    strategy: Annotated[
        str,
        described(
            description="Strategy of the episodes: time_window, thread, session, day or topic."
        ),
    ] = analysing.DEFAULT_STRATEGY,
    limit: Annotated[
        int, described(minimum=1, maximum=10_000, description="Maximum number of episodes.")
    ] = analysing.MOST_EPISODES,
    dry_run: Annotated[
        bool, described(description="Estimate the cost of a model, and analyse nothing.")
    ] = False,
) -> AnalysisReport:
    """Analyse episodes that lack an analysis, and retry analyses that were blocked or failed.

    In a home with a language model, the model runs the types that have a prompt. Its answers are
    recorded, so that each is paid for once; a statement is kept only if its names, days and
    numbers are in the messages that it cites.

    Raises:
        InvalidInput: there is no such type or strategy.

    >>> zone.analyse(types=["summary_v1"], strategy="day").failed
    0
    """
    return analysing.analyse(
        zone,
        types=types,
        episode_id=episode_id,
        strategy=strategy,
        limit=limit,
        dry_run=dry_run,
    )


@operation(
    "GET /facets",
    right="read",
    title="List facets",
    tag="analyses",
    tool=Tool(
        verb="list",
        title="List facets",
        description="List structured results of analyses: topic, entity, decision, open_question, "
        "next_step, participant, summary, or personal data such as pii_email and pii_phone. Each "
        f"names its message and the offsets in it. {DATA_WARNING}",
        quotes_memories=True,
    ),
    example=(
        None,
        {
            "facets": [
                {
                    "id": _FACET,
                    "type": "pii_email",
                    "value": "ada@example.org",
                    "analysis_id": _RUN,
                    "analysis_type": "pii_v1",
                    "episode_id": _EPISODE,
                    "entity_id": None,
                    "confidence": 0.99,
                    "event_id": _EPISODE,
                    "start": 12,
                    "end": 27,
                    "rule": "email",
                    "count": None,
                    "episode_start": _AT,
                }
            ],
            "cursor": None,
        },
    ),
)
def facets(
    zone: OpenZone,
    *,
    type: Annotated[
        str | None,
        described(
            description="Only facets of this type; pii_* selects all types that begin with pii_."
        ),
    ] = None,
    value: Annotated[
        str | None, described(description="Only facets with this value, in any case.")
    ] = None,
    episode_id: EpisodeId = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> FacetPage:
    """Return the facets of analyses, those of the latest episodes first.

    >>> len(zone.facets(type="pii_*"))
    0
    """
    return analysing.facet_page(
        zone, type_=type, value=value, episode_id=episode_id, cursor=cursor, limit=limit
    )


class AnalysisOperations:
    """Analyses of a zone's episodes."""

    analysis_types = analysis_types
    analyses = analyses
    analyse = analyse
    facets = facets
