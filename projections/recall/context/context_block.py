"""A block of context for a task: relevant memories in a frame, within a budget of tokens (A25)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from projections.files import ZoneFiles
from projections.recall.answer.assembly import interleaved
from projections.recall.answer.explanation import AnswerTrace
from projections.recall.answer.recaller import Recaller
from projections.recall.context.context_lines import document_line, turn_lines
from projections.recall.context.framing import FOOT, HEAD, framed
from projections.recall.context.packing import Chosen, packed
from projections.recall.index.zone_index import Index
from projections.recall.question.query import MOST_CHARACTERS, RecallQuery
from projections.recall.ranking.presence import LEAST_UNASKED
from schemas.display import single_spaced
from schemas.wire import ContextBlock, Result, Scope

#: Turns are shown as they were said: a fact is a sentence of one.
SCOPE: tuple[Scope, ...] = ("events", "observations", "mental_models")
#: So many results of each recall are looked at: more hardly ever fit.
RECALLED = 40
#: What scores less than this share of the best of its recall is about something else. Of LoCoMo's
#: dev questions 0.6 of 100 words of an answer are lost by it, and of a few beliefs a third of what
#: else would come up stays away.
LEAST_SHARE = 0.5

Count = Callable[[str], int]


def context_of(
    recaller: Recaller,
    task: str,
    *,
    max_tokens: int,
    count: Count,
    now: int | None = None,
    deadline: float | None = None,
) -> ContextBlock:
    """Return what a memory has to say on a task, as a block of at most `max_tokens`, or none.

    `count` says how many tokens a text takes; `now`: when it is asked (unix ms); `deadline`: when
    to stop, on the clock of `time.monotonic`. A long task is read from its beginning and its end.
    What the memory holds of the task itself says nothing new, and is left out.
    """
    started = time.perf_counter()
    query = RecallQuery(text=_read_of(task), scope=SCOPE, max_results=RECALLED)

    def composed(
        traces: list[AnswerTrace], relevant: float, index: Index, files: ZoneFiles
    ) -> list[Chosen]:
        room = max_tokens - count(HEAD) - count(FOOT)
        if relevant < LEAST_UNASKED or room <= 0:
            return []
        results = _fused(task, traces)
        wanted = {term for trace in traces for term in trace.question.terms}
        ahead = [document_line(result) for result in results if result.type != "event"]
        turns = [result for result in results if result.type == "event"]
        return packed(ahead, turn_lines(turns, wanted, index, files), room, count)

    chosen = recaller.composed(query, composed, now=now, deadline=deadline)
    block, items, tokens = _fitted(chosen, max_tokens, count)
    elapsed = (time.perf_counter() - started) * 1000
    return ContextBlock(block=block, items=items, tokens=tokens, ms=round(elapsed, 3))


def _fitted(chosen: list[Chosen], max_tokens: int, count: Count) -> tuple[str, list[Result], int]:
    """Return the block of lines; pieces may count differently together, and then some go."""
    while chosen:
        text = framed([one.text for one in chosen])
        tokens = count(text)
        if tokens <= max_tokens:
            return text, [one.line.result for one in chosen], tokens
        chosen = chosen[:-1]
    return "", [], 0


def _fused(task: str, traces: Sequence[AnswerTrace]) -> list[Result]:
    """Return the results of several recalls by their ranks in turn, without what is far off."""
    said = single_spaced(task).casefold()
    orders = []
    for trace in traces:
        others = [
            result for result in trace.results if single_spaced(result.text).casefold() != said
        ]
        best = max((result.score for result in others), default=0.0)
        orders.append([result for result in others if result.score >= LEAST_SHARE * best])
    return interleaved(orders, sum(map(len, orders)))


def _read_of(task: str) -> str:
    """Return what is read of a task: all of it, or where it is too long, its beginning and end."""
    if len(task) <= MOST_CHARACTERS:
        return task
    half = MOST_CHARACTERS // 2 - 1
    return f"{task[:half]}\n{task[-half:]}"
