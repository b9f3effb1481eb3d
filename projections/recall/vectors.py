"""Nearest vectors: exact, from memory once a process asks more than one question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.sqlite import rows, value

Floats = npt.NDArray[np.float32]

# 250,000 vectors of 384 floats are 384 MB; a zone beyond that is searched on disk.
MOST_RESIDENT = 250_000
# vec0 refuses more.
MOST_NEIGHBOURS = 4_096


class Vectors:
    """The vectors of one type of target under the indexed model."""

    def __init__(self, model: EmbeddingsModel, target_type: str) -> None:
        self._model = model
        self._type = target_type
        self._ids: list[str] | None = None
        self._matrix: Floats | None = None

    def load(self) -> bool:
        """Bring the vectors into memory where they fit; return whether they are there."""
        if self._ids is None:
            connection = self._model.connection
            where = "FROM embeddings WHERE target_type = ? AND model = ?"
            target = (self._type, self._model.model)
            if value(connection, f"SELECT count(*) {where}", target) > MOST_RESIDENT:
                return False
            found = rows(connection, f"SELECT target_id, embedding {where} ORDER BY seq", target)
            self._ids = [row[0] for row in found]
            joined = b"".join(row[1] for row in found)
            self._matrix = np.frombuffer(joined, "<f4").reshape(len(found), self._model.dimension)
        return True

    def all(self, query: Floats) -> tuple[list[str], Floats] | None:
        """Return every id with its cosine similarity, or None where they are not in memory."""
        if self._ids is None or self._matrix is None:
            return None
        return self._ids, self._matrix @ query

    def of(self, ids: Sequence[str]) -> dict[str, Floats]:
        """Return the vectors of these targets, where there are any."""
        found = rows(
            self._model.connection,
            "SELECT target_id, embedding FROM embeddings WHERE target_type = ? AND model = ? "
            f"AND target_id IN ({', '.join('?' * len(ids))})",
            (self._type, self._model.model, *ids),
        )
        return {id_: np.frombuffer(vector, "<f4") for id_, vector in found}

    def nearest(self, query: Floats, count: int) -> tuple[list[str], Floats]:
        """Return up to `count` ids with their cosine similarities, nearest first, from disk."""
        found = rows(
            self._model.connection,
            "SELECT target_id, distance FROM vec_embeddings "
            "WHERE embedding MATCH ? AND target_type = ? AND k = ? ORDER BY distance",
            (query.astype("<f4").tobytes(), self._type, min(count, MOST_NEIGHBOURS)),
        )
        return [row[0] for row in found], 1 - np.array([row[1] for row in found], np.float32)
