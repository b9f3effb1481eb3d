"""Explain why a memory was recalled or not: its rank in each arm, and what dropped it."""

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
#: In the order of the pipeline: the later the step, the further a memory got.
STEPS: tuple[Step, ...] = get_args(Step)


class AnswerTrace(NamedTuple):
    """The intermediate results of answering one question.

    `found` and `ranked` are None if no turns were searched. `pool`: the number of candidates that
    were ranked. `documents`: the results other than turns and facts, before assembly.
    """

    question: ParsedQuestion
    found: Candidates | None
    ranked: RankedTurns | None
    pool: int
    documents: list[Result]
    results: list[Result]


class _TracedMemory(NamedTuple):
    """The memory to explain: its id, type and scope, and the place of its turn, if it has one."""

    id: str
    type: str
    scope: str
    place: int | None


def explain(
    trace: AnswerTrace, id_: str, profile: Profile, index: Index, files: ZoneFiles
) -> Explanation | None:
    """Return why a memory is in an answer or not; None if the zone has nothing with this id.

    `id_` may also be the source id of an event.
    """
    query, eligible = trace.question.query, trace.question.eligible
    target = _target(id_, index, files)
    if target is None:
        return None
    ranks: dict[str, int] = {}
    fused = None
    if target.place is not None and trace.found is not None and trace.ranked is not None:
        ranks = ranks_of(trace.found.scores_by_arm, target.place)
        if ranks and eligible[target.place]:
            scores = trace.ranked.candidate_scores
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
    step, reason = _dropped_by(target, ranks, fused, trace, profile, index, files)
    return Explanation(
        query=query.text,
        id=target.id,
        type=target.type,
        arms=ranks,
        fused_rank=fused,
        dropped_by=step,
        reason=reason,
    )


def _target(id_: str, index: Index, files: ZoneFiles) -> _TracedMemory | None:
    place_of = index.turns.place_of_id
    connection = files.memory.connection
    event = scalar(
        files.events.connection,
        "SELECT id FROM events WHERE id = ?1 OR source_id = ?1 ORDER BY number LIMIT 1",
        (id_,),
    )
    if event is not None:
        return _TracedMemory(event, "event", "events", place_of[event])
    if scalar(connection, "SELECT 1 FROM facts WHERE id = ?", (id_,)) is not None:
        return _TracedMemory(id_, "fact", "facts", index.facts.places_of([id_]).get(id_))
    if scalar(connection, "SELECT 1 FROM mental_models WHERE id = ?", (id_,)) is not None:
        return _TracedMemory(id_, "mental_model", "mental_models", None)
    if scalar(connection, "SELECT 1 FROM analysis_runs WHERE id = ?", (id_,)) is not None:
        return _TracedMemory(id_, "observation", "observations", None)
    entity = identity.canonical(files.identity.connection, id_)
    return None if entity is None else _TracedMemory(entity.id, "entity", "entities", None)


def _dropped_by(
    target: _TracedMemory,
    ranks: Mapping[str, int],
    fused: int | None,
    trace: AnswerTrace,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
) -> tuple[Step, str]:
    """Return the step that dropped a memory that is not in the answer, and the reason."""
    query = trace.question.query
    if target.scope not in query.scope:
        represented = _represented_by(target, trace, index, files)
        if represented is not None:
            return "stands_for", represented
        return "scope", f"the query's scope is {', '.join(query.scope)}"
    if target.type == "fact" and target.place is None:
        return "unreadable", "its source event is being forgotten"
    if target.type not in ("event", "fact"):
        for rank, result in enumerate(trace.documents, 1):
            if result.id == target.id:
                if target.type == "observation" and trace.ranked is not None:
                    return (
                        "max_results",
                        "fewer than three of the results come from its events, or other "
                        "observations rank before it",
                    )
                return (
                    "max_results",
                    f"it ranks {rank} among the results that are not messages, with a score of "
                    f"{result.score:.2f}; max_results is {query.max_results}",
                )
        if query.has_filters:
            return "filter", "it does not pass the filters, or no arm found it"
        return "arms", "no arm found it, or it is an older version"
    assert target.place is not None
    if trace.found is None or trace.ranked is None:
        return "arms", "no arm searched for it"
    failed = [name for name, mask in trace.question.masks.items() if not mask[target.place]]
    if REPLACED in failed:
        return "filter", "the message was edited or deleted since; only its newest version counts"
    if failed:
        return "filter", f"it does not pass {', '.join(failed)}"
    if not ranks:
        return "arms", f"none of {', '.join(trace.found.scores_by_arm)} found it"
    represented = _represented_by(target, trace, index, files)
    if represented is not None:
        return "stands_for", represented
    if fused is not None and fused > trace.pool:
        return "pool", f"its message ranks {fused} after fusion; the best {trace.pool} are kept"
    score = float(trace.ranked.candidate_scores[target.place])
    if score < query.min_score:
        return "min_score", f"its message scores {score:.2f}; min_score is {query.min_score:.2f}"
    if profile.mmr_lambda is not None and target.place not in trace.ranked.places:
        return "diversity", "it repeats better results (Maximal Marginal Relevance)"
    return (
        "max_results",
        f"its message scores {score:.2f}, too little to be among the first {query.max_results} "
        "(max_results)",
    )


def _represented_by(
    target: _TracedMemory, trace: AnswerTrace, index: Index, files: ZoneFiles
) -> str | None:
    """Return a sentence that names the result from the same turn; None if there is none."""
    if target.place is None:
        return None
    event = index.turns.ids[target.place]
    of_event = index.event_facts.of([event]).get(event)
    facts = set() if of_event is None else {*of_event.stated, repeated_fact(of_event)}
    for rank, result in enumerate(trace.results, 1):
        if any(fact.id in facts for fact in result.facts):
            return f"it is listed under result {rank}, the observation {result.id}"
        if result.id == event or result.id in facts:
            return f"result {rank}, the {result.type} {result.id}, represents its message"
    return None


def explanation_of_last_step(
    query: RecallQuery,
    traces: Sequence[AnswerTrace],
    explanations: Sequence[Explanation],
    answer: Sequence[Result],
) -> Explanation:
    """Return the explanation for the sub-question whose answer has the explained memory.

    If no answer has it, return the explanation for the sub-question in which it got furthest.
    """
    explanations = [
        msgspec.structs.replace(
            explanation, query=query.text, sub_question=trace.question.original_text
        )
        for trace, explanation in zip(traces, explanations, strict=True)
    ]
    sub_questions = {result.id: result.sub_question for result in answer}
    for explanation in explanations:
        if (
            explanation.rank is not None
            and explanation.sub_question == sub_questions[explanation.id]
        ):
            return explanation
    return max(explanations, key=_stage_rank)


def _stage_rank(explanation: Explanation) -> tuple[int, float]:
    step = explanation.dropped_by
    return (
        -1 if step is None else STEPS.index(step),
        -(explanation.fused_rank or math.inf),
    )
