"""From turns and documents to one answer: observations first, each fact once."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.schemas.wire import Result

#: Observations that come before everything else (B2).
MAX_LEADING_OBSERVATIONS = 5
# An observation with less than half of the best score is about something else.
_MIN_SHARE = 0.5


def assembled(turns: Sequence[Result], documents: Sequence[Result], count: int) -> list[Result]:
    """Return up to `count` results: first observations, then everything by its score.

    Turns stay in their order, which diversity may have changed, and documents come in by their
    scores. A fact is answered once, by itself or with an observation.
    """
    ahead = first([item for item in documents if item.type == "observation"], [*turns, *documents])
    rest = [item for item in documents if item not in ahead]
    merged = heapq.merge(turns, rest, key=lambda result: -result.score) if rest else turns
    return interleaved([chain(ahead, merged)], count)


def interleaved(orders: Sequence[Iterable[Result]], count: int) -> list[Result]:
    """Return up to `count` results, one of each order in turn, none twice."""
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


def together(traces: Sequence[AnswerTrace], count: int) -> list[Result]:
    """Return up to `count` results of several questions, by their ranks in turn."""
    return interleaved(
        [
            [
                msgspec.structs.replace(item, sub_question=trace.question.wording)
                for item in trace.results
            ]
            for trace in traces
        ],
        count,
    )


def first(found: list[Result], others: list[Result]) -> list[Result]:
    """Return the observations, best first, that come before all other results."""
    best = max((result.score for result in (*found, *others)), default=0.0)
    return [item for item in found if item.score >= _MIN_SHARE * best][:MAX_LEADING_OBSERVATIONS]
