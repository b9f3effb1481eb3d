"""Oracles of the arms' scores: slow, direct implementations that share no code with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

K1, B = 0.9, 0.4
#: How much what stands at a distance counts: three turns before, ..., two turns after.
WINDOW = {-3: 0.2, -2: 0.4, -1: 0.7, 0: 1.0, 1: 0.4, 2: 0.2}
NIGHT_MS = 6 * 3_600_000


class Line(NamedTuple):
    """A turn: where and when it was said, and its words as the index has them."""

    conversation: str
    at: int
    terms: tuple[str, ...]
    length: int


def around(lines: Sequence[Line], values: Sequence[float]) -> list[float]:
    """Return for each line the weighted sum of its value and its neighbours' values.

    Neighbours are counted in the order of the conversation, and never across a night.
    """
    sums = [0.0] * len(lines)
    for conversation in {line.conversation for line in lines}:
        places = [place for place, line in enumerate(lines) if line.conversation == conversation]
        for here, place in enumerate(places):
            for distance, weight in WINDOW.items():
                there = here + distance
                if not 0 <= there < len(places):
                    continue
                low, high = sorted((here, there))
                steps = zip(places[low:high], places[low + 1 : high + 1], strict=True)
                if all(abs(lines[b].at - lines[a].at) <= NIGHT_MS for a, b in steps):
                    sums[place] += weight * values[places[there]]
    return sums


def bm25(lines: Sequence[Line], terms: Sequence[str]) -> list[float]:
    """Return each line's BM25, its term frequencies and its length taken with its neighbours'."""
    lengths = around(lines, [line.length for line in lines])
    mean = sum(lengths) / len(lengths)
    scores = [0.0] * len(lines)
    for term in terms:
        holding = sum(term in line.terms for line in lines)
        if not holding:
            continue
        idf = math.log(1 + (len(lines) - holding + 0.5) / (holding + 0.5))
        for place, tf in enumerate(around(lines, [line.terms.count(term) for line in lines])):
            if tf:
                norm = 1 - B + B * lengths[place] / mean
                scores[place] += idf * tf * (K1 + 1) / (tf + K1 * norm)
    return scores


def min_max(values: Mapping[str, float]) -> dict[str, float]:
    """Return values scaled from the least (0) to the most (1)."""
    low, high = min(values.values()), max(values.values())
    return {name: (value - low) / (high - low) for name, value in values.items()}


def ranks(scores: Mapping[str, float], close: float = 1e-6) -> dict[str, int]:
    """Return the rank of everything that scores; equals share the best of their ranks."""
    return {
        name: 1 + sum(other > score + close for other in scores.values())
        for name, score in scores.items()
        if score > close
    }


def mmr(
    relevance: Sequence[float], similarity: Sequence[Sequence[float]], count: int, share: float
) -> list[int]:
    """Return the order of Maximal Marginal Relevance by trying every candidate at every step."""
    chosen: list[int] = []
    while len(chosen) < min(count, len(relevance)):
        worth = {
            place: share * relevance[place]
            - (1 - share) * max([0.0, *(similarity[place][other] for other in chosen)])
            for place in range(len(relevance))
            if place not in chosen
        }
        most = max(worth.values())
        equal = [place for place in worth if worth[place] == most]
        chosen.append(max(equal, key=lambda place: (relevance[place], -place)))
    return chosen


#: How much the nearest word at a distance counts for late interaction.
LATE_WINDOW = {-3: 0.5, -2: 0.7, -1: 0.85, 0: 1.0, 1: 0.6, 2: 0.4}


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, 0 where one has no direction."""
    product = sum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
    return product / lengths if lengths else 0.0


def late(
    question: Sequence[tuple[Sequence[float], float]],
    turns: Sequence[tuple[int, Sequence[Sequence[float]]]],
    centre: Sequence[float],
) -> list[float]:
    """Return late interaction's score of each turn, (session, token vectors), in order.

    `question` gives (vector, weight) of each token.
    """

    def centred(vector: Sequence[float]) -> list[float]:
        return [value - mean for value, mean in zip(vector, centre, strict=True)]

    scores = []
    for here, (session, _) in enumerate(turns):
        score = 0.0
        for vector, weight in question:
            nearest = 0.0
            for distance, share in LATE_WINDOW.items():
                there = here + distance
                if 0 <= there < len(turns) and turns[there][0] == session:
                    for token in turns[there][1]:
                        similarity = cosine(centred(vector), centred(token))
                        nearest = max(nearest, share * similarity)
            score += weight * nearest
        scores.append(score / sum(weight for _, weight in question))
    return scores
