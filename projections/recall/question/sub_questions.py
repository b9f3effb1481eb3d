"""Several questions asked at once: each is answered by itself, and the answers are woven."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.recall.question.encoding import QueryTokens
from projections.recall.question.query import Query
from schemas.wire import Budget

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
