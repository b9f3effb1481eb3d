"""Vectors of one type of target: in memory where they fit, else read from disk block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.sqlite import rows, value

Floats = npt.NDArray[np.float32]

# 250,000 vectors of 384 floats are 384 MB; those of a zone beyond that stay on disk.
MOST_RESIDENT = 250_000
# vec0 refuses more.
MOST_NEIGHBOURS = 4_096
_BLOCK = 10_000

_OF_TYPE = "FROM embeddings WHERE target_type = ? AND model = ?"


class Vectors:
    """The unit vectors of one type of target under the indexed model, in the order of ids."""

    def __init__(self, model: EmbeddingsModel, target_type: str) -> None:
        self._model = model
        self._type = target_type
        self._ids: list[str] = []
        self._row: dict[str, int] = {}
        self._matrix: Floats | None = None

    @property
    def resident(self) -> bool:
        """Whether the vectors are in memory."""
        return self._matrix is not None

    def load(self) -> None:
        """Bring the vectors into memory, where they fit."""
        if self._matrix is not None:
            return
        target = (self._type, self._model.model)
        if value(self._model.connection, f"SELECT count(*) {_OF_TYPE}", target) > MOST_RESIDENT:
            return
        self._ids, self._matrix = next(self._read(MOST_RESIDENT), ([], self._stacked([])))
        self._row = {id_: row for row, id_ in enumerate(self._ids)}

    def similarities(self, query: Floats) -> tuple[list[str], Floats]:
        """Return every id, in order, with its cosine similarity to a unit vector."""
        if self._matrix is not None:
            return self._ids, self._matrix @ query
        ids: list[str] = []
        similar = [np.zeros(0, np.float32)]
        for some, matrix in self._read(_BLOCK):
            ids += some
            similar.append(matrix @ query)
        return ids, np.concatenate(similar)

    def rows(self, places: npt.NDArray[np.int64]) -> Floats | None:
        """Return the vectors at these places of `similarities`, where they are in memory."""
        return None if self._matrix is None else self._matrix[places]

    def of(self, ids: Sequence[str]) -> Floats:
        """Return the vector of each of these targets, in order; zeros where there is none."""
        if self._matrix is not None:
            places = np.fromiter((self._row.get(id_, -1) for id_ in ids), np.int64, len(ids))
            if (places >= 0).all():
                return self._matrix[places]
            padded = np.zeros((len(ids), self._model.dimension), np.float32)
            padded[places >= 0] = self._matrix[places[places >= 0]]
            return padded
        found = dict(
            rows(
                self._model.connection,
                f"SELECT target_id, embedding {_OF_TYPE} "
                f"AND target_id IN ({', '.join('?' * len(ids))})",
                (self._type, self._model.model, *ids),
            )
        )
        nothing = bytes(4 * self._model.dimension)
        return self._stacked([found.get(id_, nothing) for id_ in ids])

    def nearest(self, query: Floats, count: int) -> tuple[list[str], Floats]:
        """Return up to `count` ids with their cosine similarities, nearest first, from disk."""
        found = rows(
            self._model.connection,
            "SELECT target_id, distance FROM vec_embeddings "
            "WHERE embedding MATCH ? AND target_type = ? AND k = ? ORDER BY distance",
            (query.astype("<f4").tobytes(), self._type, min(count, MOST_NEIGHBOURS)),
        )
        return [row[0] for row in found], 1 - np.array([row[1] for row in found], np.float32)

    def _read(self, most: int) -> Iterator[tuple[list[str], Floats]]:
        # By the target's index, so that nothing is sorted.
        found = self._model.connection.execute(
            f"SELECT target_id, embedding {_OF_TYPE} ORDER BY target_id",
            (self._type, self._model.model),
        )
        while block := list(islice(found, most)):
            yield [row[0] for row in block], self._stacked([row[1] for row in block])

    def _stacked(self, vectors: Sequence[bytes]) -> Floats:
        stacked = np.frombuffer(b"".join(vectors), "<f4")
        return stacked.reshape(len(vectors), self._model.dimension)
