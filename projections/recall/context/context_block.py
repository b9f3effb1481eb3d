"""Build a context block for a task: relevant memories in a frame, within a token budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.answer.assembly import interleave
from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.projections.recall.answer.recaller import Recaller
from recollect.projections.recall.context.asked_time import is_of_asked_time
from recollect.projections.recall.context.context_lines import document_line, turn_lines
from recollect.projections.recall.context.directive_lines import directive_lines
from recollect.projections.recall.context.framing import DIRECTIVES, FOOT, HEAD, frame
from recollect.projections.recall.context.needed_lines import (
    NEEDED_SHARE,
    needed_lines,
    states_only,
)
from recollect.projections.recall.context.observation_lines import (
    OBSERVATION_SHARE,
    observation_line,
)
from recollect.projections.recall.context.opening import is_relevant
from recollect.projections.recall.context.packing import Line, PackedLine, pack
from recollect.projections.recall.context.page_lines import PAGE_SHARE, page_lines
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.broad_needs import asks_for_events
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH, RecallQuery
from recollect.schemas.text_sanitising import collapse_whitespace
from recollect.schemas.wire import ContextBlock, Result, Scope

#: Turns are recalled, not facts: packing decides whether a turn or its facts are shown.
SCOPE: tuple[Scope, ...] = ("events", "observations", "mental_models")
#: The number of results per question; more hardly ever fit.
RECALL_LIMIT = 80
#: The minimum score relative to the best result. It is lower for results from the session of a
#: better result, because an answer often follows its question. With 0.5 for both, context blocks
#: contain 0.5% fewer of the answers' words for LoCoMo's dev questions, and 20% more irrelevant
#: memories for precisionMemBench.
MIN_SHARE, MIN_SHARE_IN_SESSION = 0.55, 0.3
#: The maximum number of results of other times, if a question is certain about its time: the date
#: of an event may be unknown, or a state may last.
MAX_OF_OTHER_TIMES = 3
#: A question with more words besides its times is told from others by these words.
_MAX_TIMED_TERMS = 2

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
    """Return the memories relevant to a task, as a block of at most `max_tokens`, or an empty one.

    `count` returns the number of tokens of a text; `now` is the time of asking (unix ms);
    `deadline`: when to stop, on the clock of `time.monotonic`. Of a long task, the beginning and
    the end are used. Results with the same text as the task are left out. The user's directives
    come first, whatever the task.
    """
    started = time.perf_counter()
    query = RecallQuery(text=_truncated(task), scope=SCOPE, max_results=RECALL_LIMIT, present=now)

    def compose(
        traces: list[AnswerTrace], relevance: float, index: Index, files: ZoneFiles
    ) -> tuple[list[PackedLine], list[str]]:
        directives = directive_lines(files, max_tokens, count)
        budget = max_tokens - count(HEAD) - count(FOOT)
        if directives:
            budget -= count("\n".join((DIRECTIVES, *directives)))
        found = [result for trace in traces for result in trace.results]
        models = {result.id: result for result in found if result.type == "mental_model"}
        questions = [trace.question for trace in traces]
        wants_detail = any(question.wants_detail for question in questions)
        is_open = budget > 0 and is_relevant(relevance, questions, index)
        share = NEEDED_SHARE if is_open or models else 1
        needed = needed_lines(traces, index, files, int(share * budget), count)
        left = budget - sum(count(line.full) for line in needed)
        room = int(PAGE_SHARE * left)
        if _only_happened(task, traces) and not wants_detail:
            room = left - count("\n\n")
        pages = page_lines([*models.values()], task, files, room, count)
        if not is_open:
            return pack([*needed, *pages], [], budget, count), directives
        needed_facts = {line.result.id for line in needed}
        results = _merge(task, traces, index, files, {line.result.id for line in pages})
        terms = {term for trace in traces for term in trace.question.content_terms(index.tokeniser)}
        room = 0 if wants_detail else int(OBSERVATION_SHARE * budget)
        pinned, said = _document_lines(results, files, room, count)
        turns = [
            result
            for result in results
            if result.type == "event"
            and said.isdisjoint(result.source_event_ids)
            and not (needed_facts and states_only(result.id, needed_facts, index))
        ]
        asked = traces[0].question.query if traces else query
        lines = turn_lines(turns, terms, asked, index, files)
        return pack([*needed, *pages, *pinned], lines, budget, count), directives

    lines, directives = recaller.with_traces(query, compose, now=now, deadline=deadline)
    block, items, tokens = _fit(lines, directives, max_tokens, count)
    elapsed = (time.perf_counter() - started) * 1000
    return ContextBlock(block=block, items=items, tokens=tokens, ms=round(elapsed, 3))


def _only_happened(task: str, traces: Sequence[AnswerTrace]) -> bool:
    """Return whether each question asks what happened to somebody who has an up-to-date page."""
    return asks_for_events(task) and all(
        any(result.type == "mental_model" and not result.is_stale for result in trace.results)
        for trace in traces
    )


def _document_lines(
    results: Sequence[Result],
    files: ZoneFiles,
    room: int,
    count: Count,
) -> tuple[list[Line], set[str]]:
    """Return the lines of observations and mental models, and the ids of the observations' events.

    Observations get at most `room` tokens.
    """
    lines = []
    said: set[str] = set()
    for result in results:
        if result.type == "observation":
            line = observation_line(result, files, room, count)
            if line is not None:
                room -= count(line.full)
                said.update(line.result.source_event_ids)
                lines.append(line)
        elif result.type != "event":
            lines.append(document_line(result))
    return lines, said


def _fit(
    lines: list[PackedLine], directives: list[str], max_tokens: int, count: Count
) -> tuple[str, list[Result], int]:
    """Return the block, its results and its number of tokens.

    Joined lines may have more tokens than the single lines together. Then the last lines are
    dropped.
    """
    while lines or directives:
        text = frame([line.text for line in lines], directives)
        tokens = count(text)
        if tokens <= max_tokens:
            return text, [line.line.result for line in lines], tokens
        if lines:
            lines = lines[:-1]
        else:
            directives = directives[1:]
    return "", [], 0


def _merge(
    task: str,
    traces: Sequence[AnswerTrace],
    index: Index,
    files: ZoneFiles,
    shown: AbstractSet[str],
) -> list[Result]:
    """Return the results of several questions that are on topic and in time, round robin by rank.

    `shown`: the ids of results that are shown already.
    """
    task_text = collapse_whitespace(task).casefold()
    rankings = []
    for trace in traces:
        others = [
            result
            for result in trace.results
            if collapse_whitespace(result.text).casefold() != task_text and result.id not in shown
        ]
        rankings.append(_in_time(others, trace.question, index, files))
    return interleave(rankings, sum(map(len, rankings)))


def _in_time(
    results: Sequence[Result], question: ParsedQuestion, index: Index, files: ZoneFiles
) -> list[Result]:
    """Return the results, in order, that are on topic, of other times at most a few.

    This applies to a question that is certain to be about the times that it names, and says little
    else. If it asks for whatever there is then, no others are returned.
    """
    terms = question.content_terms(index.tokeniser)
    if not question.is_time_certain or len(terms) > _MAX_TIMED_TERMS:
        return _on_topic(results, terms, index)
    is_inside = is_of_asked_time(results, question, index, files)
    inside = [*compress(results, is_inside)]
    found = _on_topic(inside, terms, index)
    if question.asks_for_anything:
        return found
    others = [result for result in _on_topic(results, terms, index) if result not in inside]
    return [*found, *others[:MAX_OF_OTHER_TIMES]]


def _on_topic(results: Sequence[Result], terms: Sequence[str], index: Index) -> list[Result]:
    """Return the results, in order, that are on the topic of the best one.

    A result is kept if its score is high enough, or if it is a turn whose idf-weighted term overlap
    with the question is at least that of the best turn.
    """
    best = max((result.score for result in results), default=0.0)
    turns = [result.id for result in results if result.type == "event"]
    places = index.turns.place_of_id.of(turns)
    sessions = dict(zip(turns, index.turns.session[places].tolist(), strict=True))
    weights = {term: index.turns.idf(term) for term in terms}
    overlap = dict(zip(turns, index.turns.term_weights(weights, places).tolist(), strict=True))
    best_overlap = overlap[turns[0]] if turns else 0.0
    kept: list[Result] = []
    kept_sessions: set[int] = set()
    for result in results:
        session = sessions.get(result.id, -1)
        min_share = MIN_SHARE_IN_SESSION if session in kept_sessions else MIN_SHARE
        if result.score >= min_share * best or 0 < best_overlap <= overlap.get(result.id, 0.0):
            kept.append(result)
            if session >= 0:
                kept_sessions.add(session)
    return kept


def _truncated(task: str) -> str:
    """Return a task, or the beginning and the end of one that is too long for a query."""
    if len(task) <= MAX_QUERY_LENGTH:
        return task
    half = MAX_QUERY_LENGTH // 2 - 1
    return f"{task[:half]}\n{task[-half:]}"
