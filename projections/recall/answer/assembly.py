"""Assemble turns and documents into one answer: each fact once.

Everything is merged by score, except for observations. An observation sums up what several turns
say, so it stands where that begins to repeat itself: in the place of the third result that comes
from the same events. The turns that answer best stay before it, and it adds what they leave out. A
question that asks for a person, a place, a time or a number is answered by turns: an observation
follows them all.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from itertools import islice

import msgspec

from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.schemas.wire import Result

#: An observation takes the place of the n-th result that comes from its events.
PLACE_AMONG_ITS_EVENTS = 3
#: The maximum number of observations in addition to turns and facts: for a list, and for other
#: questions.
MAX_FOR_LIST, MAX_OBSERVATIONS = 2, 1
#: The maximum number of supporting facts returned with an observation.
MAX_FACTS = 5


def assemble(
    turns: Sequence[Result],
    documents: Sequence[Result],
    count: int,
    *,
    whole: Collection[str] = (),
    min_score: float = 0.0,
    wants_list: bool = False,
    wants_detail: bool = False,
) -> list[Result]:
    """Return up to `count` results by score, with observations in their places.

    `whole`: the ids of pages about the entity that is asked about as a whole; they come first.
    Without turns, observations are merged in by score as well. Turns keep their order, which
    diversification may have changed. A fact appears once, as a result or under an observation.
    """
    observations = [item for item in documents if item.type == "observation"] if turns else []
    best = max((item.score for item in (*turns, *documents)), default=0.0)
    first = [msgspec.structs.replace(item, score=best) for item in documents if item.id in whole]
    others = [item for item in documents if item not in observations and item.id not in whole]
    merged = [*first, *heapq.merge(turns, others, key=lambda result: -result.score)]
    places = ((observation, _place(observation, merged)) for observation in observations)
    placed = [(place, observation) for observation, place in places if place is not None]
    results = list(merged)
    leading = placed[: MAX_FOR_LIST if wants_list else MAX_OBSERVATIONS]
    for place, observation in sorted(leading, key=lambda each: -each[0]):
        at = len(merged) if wants_detail else place
        score = results[min(at, len(results) - 1)].score
        results.insert(at, msgspec.structs.replace(observation, score=score))
    return interleave([[result for result in results if result.score >= min_score]], count)


def _place(observation: Result, results: Sequence[Result]) -> int | None:
    """Return the place of the third result that comes from the events of an observation, if any."""
    events = set(observation.source_event_ids)
    citing = (
        place
        for place, result in enumerate(results)
        if not events.isdisjoint(result.source_event_ids)
    )
    return next(islice(citing, PLACE_AMONG_ITS_EVENTS - 1, None), None)


def interleave(rankings: Sequence[Iterable[Result]], count: int) -> list[Result]:
    """Return up to `count` results, round robin from each ranking, without duplicates.

    An observation keeps its first facts whose events no earlier result cites.
    """
    queue = deque(map(iter, rankings))
    merged: list[Result] = []
    seen: set[str] = set()
    cited: set[str] = set()
    while queue and len(merged) < count:
        for result in queue[0]:
            if result.id not in seen:
                break
        else:
            queue.popleft()
            continue
        seen.add(result.id)
        if result.facts:
            result = _with_new_facts(result, seen, cited)
            seen.update(fact.id for fact in result.facts)
        cited.update(result.source_event_ids)
        merged.append(result)
        queue.rotate(-1)
    return merged


def _with_new_facts(observation: Result, seen: Collection[str], cited: Collection[str]) -> Result:
    """Return an observation with the facts that the results before it do not have."""
    new = [
        fact
        for fact in observation.facts
        if fact.id not in seen and fact.source_event_id not in cited
    ][:MAX_FACTS]
    sources = [*(fact.source_event_id for fact in new), *observation.source_event_ids]
    return msgspec.structs.replace(
        observation, facts=new, source_event_ids=list(dict.fromkeys(sources))
    )


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
