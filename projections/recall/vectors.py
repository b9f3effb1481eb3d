"""The vectors of one type of target: bit codes of all in memory, the vectors where they fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from projections.embeddings import EmbeddingsModel
from projections.recall.codes import Codes, first_of_equals, least
from projections.recall.columns import Array, Column, Texts
from projections.recall.fusion import close_to_top
from projections.sqlite import rows

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# 250,000 vectors of 384 floats are 384 MB; beyond that, those that were read are let go.
MOST_KEPT = 250_000
_BLOCK = 10_000
# For each vector that is asked for, so many are looked at whose codes differ least, and of those
# so many whose signs agree best are compared exactly. MiniLM's vectors of 5,896 turns and
# sentences: 0.996 of the 100 nearest, 0.997 of the 400; a quarter fewer lose 0.003 more.
SCANNED = 8
COMPARED = 4
# Where few are asked for, so many are compared all the same: of the 10 nearest, 40 would find 0.97.
LEAST_COMPARED = 200
# How far a similarity may be off by the order in which its products were added.
_ROUNDING = 1e-5

_json = msgspec.json.Encoder()


class Near(NamedTuple):
    """Targets near a vector, nearest first: ids, places of their turns, cosine similarities."""

    ids: list[str]
    places: Ints
    similarity: Floats


class Targets(NamedTuple):
    """What vectors are of: the rows of ids (-1: unknown), and by row the id and the place."""

    rows_of: Callable[[list[str]], Ints]
    ids: Texts
    places: Callable[[], Array]


class Vectors:
    """The vectors of targets under the indexed model; what cannot be read has none."""

    def __init__(
        self,
        model: EmbeddingsModel,
        targets: Targets,
        columns: Mapping[str, Array] | None = None,
    ) -> None:
        self._model = model
        self._targets = targets
        held = columns or {}
        self._seq = Column(held.get("seq", np.zeros(0, np.int64)))
        self._target = Column(held.get("target", np.zeros(0, np.int32)))
        self._place = Column(held.get("place", np.zeros(0, np.int32)))
        self._codes = Codes(model.dimension, columns)
        # Vectors that were read, and where each is among them; -1: it was not.
        self._kept = Column(np.zeros((0, model.dimension), np.float32))
        self._slot = Column(np.full(len(self), -1, np.int64))

    def __len__(self) -> int:
        return len(self._seq.values)

    def extend(self, seqs: Sequence[int], ids: list[str], vectors: Floats) -> None:
        """Add (n, dimension) vectors, by the rows of the index on disk and the ids of targets."""
        targets = self._targets.rows_of(ids)
        known = targets >= 0
        self._seq.extend(np.array(seqs, np.int64)[known])
        self._target.extend(targets[known].astype(np.int32))
        self._place.extend(self._targets.places()[targets[known]].astype(np.int32))
        self._codes.extend(vectors[known])
        self._slot.extend(np.full(int(known.sum()), -1))

    def columns(self) -> dict[str, Array]:
        """Return everything that these are, to be given to another."""
        return {
            "seq": self._seq.values,
            "target": self._target.values,
            "place": self._place.values,
            **self._codes.columns(),
        }

    def load(self) -> None:
        """Bring every vector into memory, where they fit."""
        if len(self) <= MOST_KEPT:
            for start in range(0, len(self), _BLOCK):
                self._bring(np.arange(start, min(start + _BLOCK, len(self))))

    def near(self, vector: Floats, count: int, allowed: Mask) -> Near:
        """Return the `count` targets nearest to a unit vector among those of allowed turns.

        Equals come in the order of their turns, and of ids within one. Exact among what is
        compared, which is everything where there is little.
        """
        rows = self._close(vector, count, None if allowed.all() else allowed[self._place.values])
        held = self._of_rows(rows)
        close = close_to_top(held @ vector, count, _ROUNDING)
        # In double precision, products give one single-precision sum in whatever order they come.
        exact = held[close].astype(np.float64) @ vector.astype(np.float64)
        similarity, rows = exact.astype(np.float32), rows[close]
        places = self._place.values[rows]
        targets = self._target.values[rows]
        ids = self._targets.ids.column.values[targets]
        order = np.lexsort((ids, places, -similarity))[:count]
        return Near(self._targets.ids.take(targets[order]), places[order], similarity[order])

    def _close(self, vector: Floats, count: int, open_: Mask | None) -> Ints:
        """Return the rows that are worth an exact comparison, of those that are open."""
        compared = max(COMPARED * count, LEAST_COMPARED)
        scanned = compared * SCANNED // COMPARED
        if open_ is None and len(self) <= compared:
            return np.arange(len(self))
        if open_ is not None and np.count_nonzero(open_) <= compared:
            return np.flatnonzero(open_)
        distance = self._codes.distance(vector)
        if open_ is not None:
            distance[~open_] = np.iinfo(distance.dtype).max
        rows, cut = least(distance, scanned)
        if open_ is not None:
            rows = rows[open_[rows]]
        place = self._place.values
        rows = first_of_equals(rows, distance[rows], cut, scanned, place[rows])
        differs = -self._codes.agreement(rows, vector)
        best, cut = least(differs, compared)
        rows, differs = rows[best], differs[best]
        return first_of_equals(rows, differs, cut, compared, place[rows])

    def _of_rows(self, wanted: Ints) -> Floats:
        """Return vectors, in order; what was read is kept while there is room."""
        if len(self._kept.values) + len(wanted) > MOST_KEPT:
            self._kept = Column(self._kept.values[:0].copy())
            self._slot.values[:] = -1
        self._bring(wanted)
        found: Floats = self._kept.values[self._slot.values[wanted]]
        return found

    def _bring(self, wanted: Ints) -> None:
        missing = wanted[self._slot.values[wanted] < 0]
        if len(missing):
            first = len(self._kept.values)
            self._kept.extend(self._read(missing))
            self._slot.values[missing] = np.arange(first, first + len(missing))

    def _read(self, wanted: Ints) -> Floats:
        """Return vectors from disk, in order."""
        seqs = self._seq.values[wanted].tolist()
        found = dict(
            rows(
                self._model.connection,
                "SELECT seq, embedding FROM embeddings "
                "WHERE seq IN (SELECT value FROM json_each(?))",
                (_json.encode(seqs).decode(),),
            )
        )
        stacked = np.frombuffer(b"".join(found[seq] for seq in seqs), "<f4")
        return stacked.reshape(len(seqs), self._model.dimension)


def vectors_of(model: EmbeddingsModel, target_type: str, ids: Sequence[str]) -> Floats:
    """Return the vectors of targets, in order, from disk; zeros where there is none."""
    found = dict(
        rows(
            model.connection,
            "SELECT target_id, embedding FROM embeddings WHERE target_type = ? AND model = ? "
            "AND target_id IN (SELECT value FROM json_each(?))",
            (target_type, model.model, _json.encode(ids).decode()),
        )
    )
    nothing = bytes(4 * model.dimension)
    stacked = np.frombuffer(b"".join(found.get(id_, nothing) for id_ in ids), "<f4")
    return stacked.reshape(len(ids), model.dimension)
