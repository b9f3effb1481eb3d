"""Several questions asked at once: each is answered by itself, and the answers are woven."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.recall.assembling import woven
from projections.recall.explaining import STEPS, Explanation
from projections.recall.late import QueryTokens
from projections.recall.types import Budget, Query, Result

#: How many questions of one text are asked by themselves; each costs as much as one alone, and
#: the last takes the rest.
MOST_PARTS: dict[Budget, int] = {"low": 2, "mid": 3, "high": 4}


class Part(NamedTuple):
    """One question, and what the encoder read of it.

    `vector` is its unit vector, None where there is none; `tokens` are the vectors of its words.
    `words`: how it was put, where it is one of several.
    """

    query: Query
    vector: npt.NDArray[np.float32] | None
    tokens: QueryTokens | None = None
    words: str | None = None

    def usable(self, embeddings: EmbeddingsModel) -> Part:
        """Return the same with only those vectors that are of the indexed model."""
        vector, tokens, dimension = self.vector, self.tokens, embeddings.dimension
        if vector is not None and (
            embeddings.model is None
            or len(vector) != dimension
            # Zeros have no direction.
            or not (np.isfinite(vector).all() and vector.any())
        ):
            vector = None
        if tokens is not None and (
            embeddings.model is None
            or tokens.vectors.shape[1] != dimension
            or not np.isfinite(tokens.vectors).all()
        ):
            tokens = None
        return self._replace(vector=vector, tokens=tokens)


def together(
    parts: Sequence[Part], answered: Sequence[Sequence[Result]], count: int
) -> list[Result]:
    """Return up to `count` results of what each part was answered, by their ranks in turn."""
    return woven(
        [
            [msgspec.structs.replace(result, part=part.words) for result in results]
            for part, results in zip(parts, answered, strict=True)
        ],
        count,
    )


def furthest(
    query: Query, parts: Sequence[Part], became: Sequence[Explanation], answer: Sequence[Result]
) -> Explanation:
    """Return what became of a memory, by the part that it answers, else where it came furthest."""
    told = [
        msgspec.structs.replace(one, query=query.text, part=part.words)
        for part, one in zip(parts, became, strict=True)
    ]
    answers = {result.id: result.part for result in answer}
    for one in told:
        if one.rank is not None and one.part == answers[one.id]:
            return one
    return max(told, key=_how_far)


def _how_far(one: Explanation) -> tuple[int, float]:
    return (-1 if one.dropped_by is None else STEPS.index(one.dropped_by), -(one.fused or math.inf))
