"""Why a memory was recalled or not: its rank in every arm, and the step that dropped it (E4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args

import msgspec
import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.identity import entity_queries as identity
from projections.recall.answer.turn_results import ranks_of, repeated
from projections.recall.arms.arm_scores import Found
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion
from projections.recall.question.query import Query
from projections.recall.ranking.profiles import Profile
from projections.recall.ranking.turn_ranking import Ranked
from projections.sqlite import value
from schemas.wire import Explanation, Result

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
#: The further a memory came, the later.
STEPS: tuple[Step, ...] = get_args(Step)


class Course(NamedTuple):
    """How an answer came about. `found` and `order` are None where no turn was looked for.

    `pool`: so many turns went on from the arms. `documents`: the results that are no turns,
    before the answer was put together.
    """

    question: ParsedQuestion
    found: Found | None
    order: Ranked | None
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
    course: Course, id_: str, profile: Profile, index: Index, files: ZoneFiles
) -> Explanation | None:
    """Return what became of a memory; None where the zone holds nothing with this id.

    An event has its own id and its source's.
    """
    query, eligible = course.question.query, course.question.eligible
    target = _target(id_, index, files)
    if target is None:
        return None
    ranks: dict[str, int] = {}
    fused = None
    if target.place is not None and course.found is not None and course.order is not None:
        ranks = ranks_of(course.found.turns, target.place)
        if ranks and eligible[target.place]:
            scores = course.order.of_found
            fused = int((scores[eligible] > scores[target.place]).sum()) + 1
    for rank, result in enumerate(course.results, 1):
        if (result.type, result.id) == (target.type, target.id):
            return Explanation(
                query=query.text,
                id=target.id,
                type=target.type,
                rank=rank,
                score=result.score,
                arms=ranks or result.arms or {},
                fused=fused,
            )
    step, because = _dropped(target, ranks, fused, course, profile, index, files)
    return Explanation(
        query=query.text,
        id=target.id,
        type=target.type,
        arms=ranks,
        fused=fused,
        dropped_by=step,
        because=because,
    )


def _target(id_: str, index: Index, files: ZoneFiles) -> _Target | None:
    place_of = index.turns.place_of_id
    connection = files.memory.connection
    event = value(
        files.events.connection,
        "SELECT id FROM events WHERE id = ?1 OR source_id = ?1 ORDER BY number LIMIT 1",
        (id_,),
    )
    if event is not None:
        return _Target(event, "event", "events", place_of[event])
    if value(connection, "SELECT 1 FROM facts WHERE id = ?", (id_,)) is not None:
        return _Target(id_, "fact", "facts", index.facts_said.placed([id_]).get(id_))
    if value(connection, "SELECT 1 FROM mental_models WHERE id = ?", (id_,)) is not None:
        return _Target(id_, "mental_model", "mental_models", None)
    if value(connection, "SELECT 1 FROM analysis_runs WHERE id = ?", (id_,)) is not None:
        return _Target(id_, "observation", "observations", None)
    entity = identity.canonical(files.identity.connection, id_)
    return None if entity is None else _Target(entity.id, "entity", "entities", None)


def _dropped(
    target: _Target,
    ranks: Mapping[str, int],
    fused: int | None,
    course: Course,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
) -> tuple[Step, str]:
    """Return the step at which a memory that is not in the answer fell out, and why."""
    query = course.question.query
    if target.scope not in query.scope:
        stands = _in_its_place(target, course, index, files)
        if stands is not None:
            return "stands_for", stands
        return "scope", f"the question looks in {', '.join(query.scope)}"
    if target.type == "fact" and target.place is None:
        return "unreadable", "the event that it was drawn from is being forgotten"
    if target.type not in ("event", "fact"):
        for rank, result in enumerate(course.documents, 1):
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
    if course.found is None or course.order is None:
        return "arms", "no arm can look for it"
    refused = [name for name, mask in course.question.masks.items() if not mask[target.place]]
    if refused:
        return "filter", f"it does not pass {', '.join(refused)}"
    if not ranks:
        return "arms", f"none of {', '.join(course.found.turns)} found it"
    stands = _in_its_place(target, course, index, files)
    if stands is not None:
        return "stands_for", stands
    if fused is not None and fused > course.pool:
        return "pool", f"its turn is number {fused} by all arms together, and {course.pool} go on"
    score = float(course.order.of_found[target.place])
    if score < query.min_score:
        return "min_score", f"its turn scores {score:.2f}, and {query.min_score:.2f} is asked for"
    if profile.mmr_lambda is not None and target.place not in course.order.places:
        return "diversity", "it says what results before it say (Maximal Marginal Relevance)"
    return (
        "max_results",
        f"its turn is number {fused} by all arms together, and {query.max_results} are answered",
    )


def _in_its_place(target: _Target, course: Course, index: Index, files: ZoneFiles) -> str | None:
    """Return which result stands for the same turn; None where none does."""
    if target.place is None:
        return None
    event = index.turns.ids[target.place]
    told = index.told.of([event]).get(event)
    facts = set() if told is None else {*told.given, repeated(told)}
    for rank, result in enumerate(course.results, 1):
        if any(fact.id in facts for fact in result.facts):
            return f"it comes with result {rank}, the observation {result.id}"
        if result.id == event or result.id in facts:
            return f"result {rank}, the {result.type} {result.id}, stands for its turn"
    return None


def furthest(
    query: Query, courses: Sequence[Course], became: Sequence[Explanation], answer: Sequence[Result]
) -> Explanation:
    """Return what became of a memory in the question that it answers, or came furthest in."""
    told = [
        msgspec.structs.replace(one, query=query.text, part=course.question.wording)
        for course, one in zip(courses, became, strict=True)
    ]
    answers = {result.id: result.part for result in answer}
    for one in told:
        if one.rank is not None and one.part == answers[one.id]:
            return one
    return max(told, key=_how_far)


def _how_far(one: Explanation) -> tuple[int, float]:
    return (-1 if one.dropped_by is None else STEPS.index(one.dropped_by), -(one.fused or math.inf))
