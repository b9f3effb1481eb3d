"""Strategies, the units of what was learned, and when two of them are the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from recollect.text.tokenizer import tokenise

#: Jaccard similarity of their words from which two strategies are the same.
SAME_STRATEGY = 0.7
_DECISIVE_WORDS = """
    not no never none without avoid don't doesn't didn't won't can't cannot shouldn't mustn't isn't
    aren't stop skip unless except before after
"""
_DECISIVE = frozenset(_DECISIVE_WORDS.split())


class StepRef(NamedTuple):
    """A step of a trajectory; `step_id` is empty if the whole trajectory is meant."""

    trajectory_id: str
    step_id: str


class FoundItem(NamedTuple):
    """Something that a reflection found; fields as in `ReflectionItem`."""

    kind: Literal["helpful", "harmful", "observation"]
    text: str
    confidence: float
    evidence: tuple[StepRef, ...]
    sources: tuple[int, ...]
    impact: str = ""
    in_successes: int | None = None
    in_failures: int | None = None


def words_of(text: str) -> frozenset[str]:
    """Return the words of a strategy, in lower case."""
    return frozenset(tokenise(text).lowers)


def similarity(one: str, other: str) -> float:
    """Return the Jaccard similarity of two strategies' words, 0 to 1.

    It is 0 if they differ in a negation, an order of time, or a number: "never cache" is not
    "cache".
    """
    ours, theirs = words_of(one), words_of(other)
    if not ours or not theirs or _decisive(ours) != _decisive(theirs):
        return 0.0
    return len(ours & theirs) / len(ours | theirs)


def most_similar(text: str, among: Sequence[str]) -> int | None:
    """Return the index of the most similar duplicate, the first of equals; None if none."""
    similarities = [similarity(text, other) for other in among]
    best = max(similarities, default=0.0)
    return similarities.index(best) if best >= SAME_STRATEGY else None


def _decisive(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if word in _DECISIVE or word[0].isdigit())
