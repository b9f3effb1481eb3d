"""The decision whether a prompt gets a context block.

`prompt_relevance` estimates from words and meanings whether the memory has anything for a prompt.
Its estimate is too low for "Where was Kate on 31 December?", since messages of that day do not name
their date. This module corrects it by the times at which turns were sent: the words of a time that
a prompt names count as words of every turn from that time, and such a time is a cue that the prompt
is about the memory, as strong as the first person. The threshold stays the same.

Such a time occurs in 5% of those RealMem prompts (AvatarMemory, Apache-2.0) that need no memory, in
18% of those that need it, and in most LifeBench questions about a year of somebody's phone
(Apache-2.0).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.prompt_relevance import (
    INJECTION_THRESHOLD,
    WORDS,
    WORDS_ALONE,
)
from recollect.text.dates.dates_in_text import date_references

Mask = npt.NDArray[np.bool_]

#: The weight of a time at which turns were sent, as a cue that a prompt is about them.
TIME = 1.0
# Additive smoothing of the share of words, as in `prompt_relevance`.
_SMOOTHING_WORDS = 2


def is_relevant(relevance: float, questions: Iterable[ParsedQuestion], index: Index) -> bool:
    """Return whether memories belong in the context of a prompt with these questions."""
    if relevance >= INJECTION_THRESHOLD:
        return True
    if relevance <= 0:
        return False
    gain = max((_gain_by_time(question, index) for question in questions), default=0.0)
    log_odds = math.log(relevance / (1 - relevance)) + gain
    return log_odds >= math.log(INJECTION_THRESHOLD / (1 - INJECTION_THRESHOLD))


def _gain_by_time(question: ParsedQuestion, index: Index) -> float:
    """Return the increase of the log odds by the time that a question names.

    It is 0 if the question names no time, or if no turn that may answer it was sent then.
    """
    turns = index.turns
    searched = question.allowed & turns.personal
    at_time = searched & _sent_at(question, index)
    if not at_time.any():
        return 0.0
    time_terms = _time_terms(question, index)
    weights = {term: turns.idf(term) for term in question.content_terms(index.tokeniser)}
    of_time = {term: weight for term, weight in weights.items() if term in time_terms}
    others = {term: weight for term, weight in weights.items() if term not in time_terms}
    before = turns.term_weights(weights, np.flatnonzero(searched)).max(initial=0)
    after = turns.term_weights(others, np.flatnonzero(at_time)).max(initial=0)
    after += math.fsum(of_time.values())
    total = math.fsum(weights.values()) + _SMOOTHING_WORDS * turns.idf("")
    weight = WORDS_ALONE if question.vector is None else WORDS
    return TIME + weight * max(float(after - before), 0.0) / total


def _sent_at(question: ParsedQuestion, index: Index) -> Mask:
    """Return which turns were sent at a time that a question names."""
    at = index.turns.occurred_at
    sent = np.zeros(len(at), np.bool_)
    for first, last in question.spans:
        sent |= (at >= first) & (at <= last)
    return sent


def _time_terms(question: ParsedQuestion, index: Index) -> set[str]:
    """Return the index terms of the dates in a question's text."""
    latest = int(index.turns.occurred_at.max(initial=0))
    dates = date_references(
        question.text, at_ms=latest, utc_offset_minutes=question.utc_offset, every=True
    )
    return {term for found in dates for term in index.tokeniser.query_terms(found.text)}
