"""Why a memory was recalled or not: its rank in every arm, and the step that dropped it (E4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.recall.answer.turn_results import ranks_of, repeated_fact
from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.filters import REPLACED
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import RecallQuery
from recollect.projections.recall.ranking.profiles import Profile
from recollect.projections.recall.ranking.turn_ranking import RankedTurns
from recollect.projections.sqlite import scalar
from recollect.schemas.wire import Explanation, Result

Mask = npt.NDArray[np.bool_]

Step = Literal[
    "unreadable",
    "scope",
    "filter",
    "arms",
    "pool",
    "min_score",
    "diversity",
    "max_results",
    "stands_for",
]
#: In the order of the pipeline: the further a memory came, the later.
STEPS: tuple[Step, ...] = get_args(Step)


class AnswerTrace(NamedTuple):
    """How the answer to one question came about.

    `found` and `order` are None where no turn was looked for. `pool`: how many turns the arms
    passed on. `documents`: the results that are no turns, before the answer was assembled.
    """

    question: ParsedQuestion
    found: Candidates | None
    order: RankedTurns | None
    pool: int
    documents: list[Result]
    results: list[Result]


class _Target(NamedTuple):
    """A memory: its id and kind, its scope, and the place of its turn where it has one."""

    id: str
    type: str
    scope: str
    place: int | None


def explained(
    trace: AnswerTrace, id_: str, profile: Profile, index: Index, files: ZoneFiles
) -> Explanation | None:
    """Return why a memory is in an answer or not; None where the zone has nothing with this id.

    An event is found by its own id and by its source's.
    """
    query, eligible = trace.question.query, trace.question.eligible
    target = _target(id_, index, files)
    if target is None:
        return None
    ranks: dict[str, int] = {}
    fused = None
    if target.place is not None and trace.found is not None and trace.order is not None:
        ranks = ranks_of(trace.found.scores_by_arm, target.place)
        if ranks and eligible[target.place]:
            scores = trace.order.candidate_scores
            fused = int((scores[eligible] > scores[target.place]).sum()) + 1
    for rank, result in enumerate(trace.results, 1):
        if (result.type, result.id) == (target.type, target.id):
            return Explanation(
                query=query.text,
                id=target.id,
                type=target.type,
                rank=rank,
                score=result.score,
                arms=ranks or result.arms or {},
                fused_rank=fused,
            )
    step, because = _dropped(target, ranks, fused, trace, profile, index, files)
    return Explanation(
        query=query.text,
        id=target.id,
        type=target.type,
        arms=ranks,
        fused_rank=fused,
        dropped_by=step,
        reason=because,
    )


def _target(id_: str, index: Index, files: ZoneFiles) -> _Target | None:
    place_of = index.turns.place_of_id
    connection = files.memory.connection
    event = scalar(
        files.events.connection,
        "SELECT id FROM events WHERE id = ?1 OR source_id = ?1 ORDER BY number LIMIT 1",
        (id_,),
    )
    if event is not None:
        return _Target(event, "event", "events", place_of[event])
    if scalar(connection, "SELECT 1 FROM facts WHERE id = ?", (id_,)) is not None:
        return _Target(id_, "fact", "facts", index.facts.places_of([id_]).get(id_))
    if scalar(connection, "SELECT 1 FROM mental_models WHERE id = ?", (id_,)) is not None:
        return _Target(id_, "mental_model", "mental_models", None)
    if scalar(connection, "SELECT 1 FROM analysis_runs WHERE id = ?", (id_,)) is not None:
        return _Target(id_, "observation", "observations", None)
    entity = identity.canonical(files.identity.connection, id_)
    return None if entity is None else _Target(entity.id, "entity", "entities", None)


def _dropped(
    target: _Target,
    ranks: Mapping[str, int],
    fused: int | None,
    trace: AnswerTrace,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
) -> tuple[Step, str]:
    """Return the step at which a memory that is not in the answer fell out, and why."""
    query = trace.question.query
    if target.scope not in query.scope:
        other = _result_for_its_turn(target, trace, index, files)
        if other is not None:
            return "stands_for", other
        return "scope", f"the question looks in {', '.join(query.scope)}"
    if target.type == "fact" and target.place is None:
        return "unreadable", "the event that it was drawn from is being forgotten"
    if target.type not in ("event", "fact"):
        for rank, result in enumerate(trace.documents, 1):
            if result.id == target.id:
                return (
                    "max_results",
                    f"it is number {rank} of what is no turn, with a score of {result.score:.2f}, "
                    f"and {query.max_results} are answered",
                )
        if query.filtered:
            return "filter", "it does not pass the filters, or no arm found it"
        return "arms", "no arm found it, or it is an older version"
    assert target.place is not None
    if trace.found is None or trace.order is None:
        return "arms", "no arm can look for it"
    refused = [name for name, mask in trace.question.masks.items() if not mask[target.place]]
    if REPLACED in refused:
        return "filter", "the message was edited or deleted since; its newest version may answer"
    if refused:
        return "filter", f"it does not pass {', '.join(refused)}"
    if not ranks:
        return "arms", f"none of {', '.join(trace.found.scores_by_arm)} found it"
    other = _result_for_its_turn(target, trace, index, files)
    if other is not None:
        return "stands_for", other
    if fused is not None and fused > trace.pool:
        return "pool", f"its turn is number {fused} by all arms together, and {trace.pool} go on"
    score = float(trace.order.candidate_scores[target.place])
    if score < query.min_score:
        return "min_score", f"its turn scores {score:.2f}, and {query.min_score:.2f} is asked for"
    if profile.mmr_lambda is not None and target.place not in trace.order.places:
        return "diversity", "it says what results before it say (Maximal Marginal Relevance)"
    return (
        "max_results",
        f"its turn is number {fused} by all arms together, and {query.max_results} are answered",
    )


def _result_for_its_turn(
    target: _Target, trace: AnswerTrace, index: Index, files: ZoneFiles
) -> str | None:
    """Return which result stands for the same turn; None where none does."""
    if target.place is None:
        return None
    event = index.turns.ids[target.place]
    of_event = index.event_facts.of([event]).get(event)
    facts = set() if of_event is None else {*of_event.stated, repeated_fact(of_event)}
    for rank, result in enumerate(trace.results, 1):
        if any(fact.id in facts for fact in result.facts):
            return f"it comes with result {rank}, the observation {result.id}"
        if result.id == event or result.id in facts:
            return f"result {rank}, the {result.type} {result.id}, stands for its turn"
    return None


def furthest(
    query: RecallQuery,
    traces: Sequence[AnswerTrace],
    became: Sequence[Explanation],
    answer: Sequence[Result],
) -> Explanation:
    """Return the explanation for the question that a memory answers, or came furthest in."""
    explanations = [
        msgspec.structs.replace(one, query=query.text, sub_question=trace.question.wording)
        for trace, one in zip(traces, became, strict=True)
    ]
    answers = {result.id: result.sub_question for result in answer}
    for one in explanations:
        if one.rank is not None and one.sub_question == answers[one.id]:
            return one
    return max(explanations, key=_how_far)


def _how_far(one: Explanation) -> tuple[int, float]:
    return (
        -1 if one.dropped_by is None else STEPS.index(one.dropped_by),
        -(one.fused_rank or math.inf),
    )
