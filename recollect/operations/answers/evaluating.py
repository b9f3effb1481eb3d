"""Evaluation of recall on questions whose sources are known."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.answers import recalling
from recollect.projections.events import event_queries
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import (
    Evaluation,
    JudgedAnswer,
    JudgedQuestion,
    MissedSource,
    Query,
)

#: Maximum questions of one evaluation: each takes as many searches as it has sources, and one more.
MAX_QUESTIONS = 10_000

# The numbers of results at which recall is reported, up to `max_results` and with it.
_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


def evaluate(zone: OpenZone, questions: Sequence[JudgedQuestion], max_results: int) -> Evaluation:
    """Ask every question, and compare the sources that the answer cites with the expected ones.

    Searches are not counted as accesses.

    Raises:
        InvalidInput: there are no questions or too many, or one of them is invalid.
    """
    if not 1 <= len(questions) <= MAX_QUESTIONS:
        raise InvalidInput(f"{len(questions)} questions; give 1 to {MAX_QUESTIONS:,}")
    known = _known_sources(zone, {source for question in questions for source in question.sources})
    answers: list[JudgedAnswer] = []
    within_arm: Counter[str] = Counter()
    for question in questions:
        recalling.check_query(question.plain())
        query = _query(question, max_results)
        answer = recalling.recall(zone, query)
        ranks: dict[str, int] = {}
        for rank, result in enumerate(answer.results, 1):
            for source in result.source_event_ids:
                ranks.setdefault(source, rank)
        missed = []
        for source in dict.fromkeys(question.sources):
            if source not in known:
                continue
            explanation = recalling.explain(zone, query, source)
            if explanation is None:
                continue
            within_arm.update(arm for arm, at in explanation.arms.items() if at <= max_results)
            if source not in ranks:
                missed.append(
                    MissedSource(
                        source=source,
                        dropped_by=explanation.dropped_by,
                        reason=explanation.reason,
                    )
                )
        answers.append(
            JudgedAnswer(
                id=question.id,
                query=question.query,
                ranks={source: ranks[source] for source in question.sources if source in ranks},
                missed=missed,
                relevant=answer.relevant,
            )
        )
    return _report(questions, answers, known, within_arm, max_results)


def _query(question: JudgedQuestion, max_results: int) -> Query:
    return msgspec.structs.replace(question.plain(), max_results=max_results, explain=False)


def _known_sources(zone: OpenZone, sources: set[str]) -> set[str]:
    """Return the source ids that belong to an event in the zone."""
    if not zone.exists():
        return set()
    with zone.files() as files:
        connection = files.events.connection
        return {
            source
            for source in sources
            if event_queries.first_event_with_id(connection, source) is not None
        }


def _report(
    questions: Sequence[JudgedQuestion],
    answers: list[JudgedAnswer],
    known: set[str],
    within_arm: Counter[str],
    max_results: int,
) -> Evaluation:
    sources = [sorted(known.intersection(question.sources)) for question in questions]
    answerable = [pair for pair in zip(sources, answers, strict=True) if pair[0]]
    unanswerable = [
        answer for question, answer in zip(questions, answers, strict=True) if not question.sources
    ]
    total = sum(len(wanted) for wanted, _ in answerable)
    cutoffs = sorted({cutoff for cutoff in _CUTOFFS if cutoff < max_results} | {max_results})
    return Evaluation(
        questions=len(answerable),
        sources=total,
        max_results=max_results,
        recall_at={
            str(cutoff): _mean(
                sum(answer.ranks.get(source, cutoff + 1) <= cutoff for source in wanted)
                / len(wanted)
                for wanted, answer in answerable
            )
            for cutoff in cutoffs
        },
        mean_reciprocal_rank=_mean(
            max(
                (1 / answer.ranks[source] for source in wanted if source in answer.ranks), default=0
            )
            for wanted, answer in answerable
        ),
        arms={arm: round(count / total, 4) for arm, count in within_arm.most_common()},
        unanswerable=len(unanswerable),
        relevance_auroc=_auroc(
            [answer.relevant for _, answer in answerable],
            [answer.relevant for answer in unanswerable],
        ),
        unknown_sources=sorted(
            {source for question in questions for source in question.sources} - known
        ),
        answers=answers,
    )


def _ranks_of(sources: Iterable[str], answer: JudgedAnswer) -> Iterator[int]:
    return (answer.ranks[source] for source in sources if source in answer.ranks)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return round(fmean(listed), 4) if listed else 0.0


def _auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Return the area under the ROC curve: the Mann-Whitney U statistic over all pairs.

    A tie counts as half. None if either kind has no values.
    """
    if not positive or not negative:
        return None
    lower = sorted(negative)
    wins = sum(bisect_left(lower, each) + bisect_right(lower, each) for each in positive) / 2
    return round(wins / (len(positive) * len(negative)), 4)
