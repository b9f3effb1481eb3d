"""A block of context for a task: relevant memories in a frame, within a budget of tokens (A25)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.answer.assembly import interleaved
from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.projections.recall.answer.recaller import Recaller
from recollect.projections.recall.context.context_lines import document_line, turn_lines
from recollect.projections.recall.context.framing import FOOT, HEAD, framed
from recollect.projections.recall.context.packing import Chosen, packed
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH, RecallQuery
from recollect.projections.recall.ranking.prompt_relevance import INJECTION_THRESHOLD
from recollect.schemas.text_sanitising import collapse_whitespace
from recollect.schemas.wire import ContextBlock, Result, Scope

#: Turns are recalled, and what is shown of each is chosen as lines are packed: it, or its facts.
SCOPE: tuple[Scope, ...] = ("events", "observations", "mental_models")
#: So many results of each recall are looked at: more hardly ever fit.
RECALLED = 80
#: What scores less than this share of the best of its recall is about something else, unless it
#: was said in the session of a better one: there the answer stands beside its question, and less is
#: enough. With a half for both, LoCoMo's dev answers lose half a word in a hundred, and of a few
#: beliefs, each by itself, a fifth more comes up that should not.
MIN_SHARE, MIN_SHARE_IN_SESSION = 0.55, 0.3

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
        if relevant < INJECTION_THRESHOLD or room <= 0:
            return []
        results = _fused(task, traces, index)
        asked = (trace.question.content_terms(index.tokeniser) for trace in traces)
        wanted = {term for terms in asked for term in terms}
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


def _fused(task: str, traces: Sequence[AnswerTrace], index: Index) -> list[Result]:
    """Return the results of several recalls by their ranks in turn, without what is far off."""
    said = collapse_whitespace(task).casefold()
    orders = []
    for trace in traces:
        others = [
            result
            for result in trace.results
            if collapse_whitespace(result.text).casefold() != said
        ]
        wanted = trace.question.content_terms(index.tokeniser)
        orders.append(_close(others, wanted, index))
    return interleaved(orders, sum(map(len, orders)))


def _close(results: Sequence[Result], wanted: Sequence[str], index: Index) -> list[Result]:
    """Return the results, in their order, that are about what the best is about.

    They score enough, or are turns that have as much of what is asked for, by its words.
    """
    best = max((result.score for result in results), default=0.0)
    turns = [result.id for result in results if result.type == "event"]
    places = index.turns.place_of_id.of(turns)
    sessions = dict(zip(turns, index.turns.session[places].tolist(), strict=True))
    weights = {term: index.turns.idf(term) for term in wanted}
    words = dict(zip(turns, index.turns.term_weights(weights, places).tolist(), strict=True))
    enough = words[turns[0]] if turns else 0.0
    kept: list[Result] = []
    opened: set[int] = set()
    for result in results:
        session = sessions.get(result.id, -1)
        least = MIN_SHARE_IN_SESSION if session in opened else MIN_SHARE
        if result.score >= least * best or 0 < enough <= words.get(result.id, 0.0):
            kept.append(result)
            if session >= 0:
                opened.add(session)
    return kept


def _read_of(task: str) -> str:
    """Return what is read of a task: all of it, or where it is too long, its beginning and end."""
    if len(task) <= MAX_QUERY_LENGTH:
        return task
    half = MAX_QUERY_LENGTH // 2 - 1
    return f"{task[:half]}\n{task[-half:]}"
