"""From turns and documents to one answer: observations first, each fact once."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import msgspec

from projections.recall.observations import first
from projections.recall.types import Result


def assembled(turns: Sequence[Result], documents: Sequence[Result], count: int) -> list[Result]:
    """Return up to `count` results: the observations that come first, then all by their scores.

    Turns keep the order that diversity gave them, and documents come in where they belong. A
    fact is answered once, by itself or with an observation.
    """
    ahead = first([item for item in documents if item.type == "observation"], [*turns, *documents])
    rest = [item for item in documents if item not in ahead]
    merged = heapq.merge(turns, rest, key=lambda result: -result.score)
    answered: list[Result] = []
    shown: set[str] = set()
    for result in (*ahead, *merged):
        if len(answered) == count:
            break
        if result.id in shown:
            continue
        fresh = [fact for fact in result.facts if fact.id not in shown]
        shown |= {result.id, *(fact.id for fact in fresh)}
        answered.append(msgspec.structs.replace(result, facts=fresh))
    return answered
