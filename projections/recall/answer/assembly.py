"""Assemble turns and documents into one answer: observations first, each fact once."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.schemas.wire import Result

#: The maximum number of observations placed before all other results.
MAX_LEADING_OBSERVATIONS = 5
# The minimum score of such an observation, as a share of the best score. An observation below it is
# off topic.
_MIN_SHARE = 0.5


def assemble(turns: Sequence[Result], documents: Sequence[Result], count: int) -> list[Result]:
    """Return up to `count` results: leading observations, then everything by score.

    Turns keep their order, which diversification may have changed; documents are merged in by
    score. A fact appears once, as a result or under an observation.
    """
    leading = leading_observations(
        [item for item in documents if item.type == "observation"], [*turns, *documents]
    )
    others = [item for item in documents if item not in leading]
    merged = heapq.merge(turns, others, key=lambda result: -result.score) if others else turns
    return interleave([chain(leading, merged)], count)


def interleave(rankings: Sequence[Iterable[Result]], count: int) -> list[Result]:
    """Return up to `count` results, round robin from each ranking, without duplicates."""
    queue = deque(map(iter, rankings))
    merged: list[Result] = []
    seen: set[str] = set()
    while queue and len(merged) < count:
        for result in queue[0]:
            if result.id not in seen:
                break
        else:
            queue.popleft()
            continue
        seen.add(result.id)
        if result.facts:
            new = [fact for fact in result.facts if fact.id not in seen]
            seen.update(fact.id for fact in new)
            result = msgspec.structs.replace(result, facts=new)
        merged.append(result)
        queue.rotate(-1)
    return merged


def merge_answers(traces: Sequence[AnswerTrace], count: int) -> list[Result]:
    """Return up to `count` results of several questions, round robin by rank."""
    return interleave(
        [
            [
                msgspec.structs.replace(item, sub_question=trace.question.original_text)
                for item in trace.results
            ]
            for trace in traces
        ],
        count,
    )


def leading_observations(observations: list[Result], others: list[Result]) -> list[Result]:
    """Return the observations, best first, that come before all other results."""
    best = max((result.score for result in (*observations, *others)), default=0.0)
    relevant = [item for item in observations if item.score >= _MIN_SHARE * best]
    return relevant[:MAX_LEADING_OBSERVATIONS]
