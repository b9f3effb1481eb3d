"""From turns and documents to one answer: observations first, each fact once."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from projections.recall.answer.explanation import Course
from schemas.wire import Result

#: Observations that come before everything else (B2).
MOST_FIRST = 5
# One that answers half as well as the best result does is about something else.
_LEAST_SHARE = 0.5


def assembled(turns: Sequence[Result], documents: Sequence[Result], count: int) -> list[Result]:
    """Return up to `count` results: the observations that come first, then all by their scores.

    Turns keep the order that diversity gave them, and documents come in where they belong. A
    fact is answered once, by itself or with an observation.
    """
    ahead = first([item for item in documents if item.type == "observation"], [*turns, *documents])
    rest = [item for item in documents if item not in ahead]
    merged = heapq.merge(turns, rest, key=lambda result: -result.score) if rest else turns
    return woven([chain(ahead, merged)], count)


def woven(orders: Sequence[Iterable[Result]], count: int) -> list[Result]:
    """Return up to `count` results, the next of each order in turn, nothing twice."""
    waiting = deque(map(iter, orders))
    answered: list[Result] = []
    shown: set[str] = set()
    while waiting and len(answered) < count:
        for result in waiting[0]:
            if result.id not in shown:
                break
        else:
            waiting.popleft()
            continue
        shown.add(result.id)
        if result.facts:
            fresh = [fact for fact in result.facts if fact.id not in shown]
            shown.update(fact.id for fact in fresh)
            result = msgspec.structs.replace(result, facts=fresh)
        answered.append(result)
        waiting.rotate(-1)
    return answered


def together(courses: Sequence[Course], count: int) -> list[Result]:
    """Return up to `count` results of several questions, by their ranks in turn."""
    return woven(
        [
            [msgspec.structs.replace(item, part=course.question.wording) for item in course.results]
            for course in courses
        ],
        count,
    )


def first(found: list[Result], others: list[Result]) -> list[Result]:
    """Return the observations, best first, that come before all other results."""
    best = max((result.score for result in (*found, *others)), default=0.0)
    return [item for item in found if item.score >= _LEAST_SHARE * best][:MOST_FIRST]
