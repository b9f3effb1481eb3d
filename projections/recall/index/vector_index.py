"""The vectors of one type of target: bit codes, which are scanned, and bytes to compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.embeddings import EmbeddingsModel
from recollect.projections.embeddings.canonical_vectors import (
    Bytes,
    inverse_norms,
    to_int8,
    to_unit_vectors,
)
from recollect.projections.recall.index.bit_codes import BitCodes, break_ties, smallest
from recollect.projections.recall.index.growable_arrays import (
    Array,
    GrowableArray,
    GrowableRows,
    Texts,
)
from recollect.projections.recall.index.int8_products import product
from recollect.projections.recall.index.selection import top_with_ties
from recollect.projections.sqlite import json_array, rows

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# For each result that is wanted, so many vectors are compared: those with the nearest bit codes.
OVERSAMPLING = 8
# At least so many are compared.
MIN_RESCORED = 400


class NearestTargets(NamedTuple):
    """Targets near a vector, nearest first: rows, places of their turns, cosine similarities."""

    targets: Ints
    places: Ints
    similarity: Floats


class VectorTargets(NamedTuple):
    """What vectors belong to: the rows of ids (-1: unknown), and by row the id and the place."""

    rows_of: Callable[[list[str]], Ints]
    ids: Texts
    places: Callable[[], Array]


class Vectors:
    """The canonical vectors of targets under the indexed model; what cannot be read has none."""

    def __init__(
        self,
        dimension: int,
        targets: VectorTargets,
        columns: Mapping[str, Array] | None = None,
    ) -> None:
        self._targets = targets
        held = columns or {}
        self._seq = GrowableArray(held.get("seq", np.zeros(0, np.int64)))
        self._target = GrowableArray(held.get("target", np.zeros(0, np.int32)))
        self._place = GrowableArray(held.get("place", np.zeros(0, np.int32)))
        self._signs = BitCodes(dimension, columns)
        # 1 over the length of each.
        self._scale = GrowableArray(held.get("scale", np.zeros(0, np.float32)))
        self.codes = GrowableRows(held.get("codes"), np.int8, dimension, held.get("codes.lying"))

    def __len__(self) -> int:
        return len(self._target.values)

    @property
    def last_seq(self) -> int:
        """The number of the last vector in the file; 0 where there is none."""
        return int(self._seq.values.max(initial=0))

    def remove(self, seqs: Sequence[int], targets: Ints, places: Ints) -> None:
        """Remove the vectors with these numbers, and those of removed targets.

        `targets` and `places` have the new row of each target and the new place of each turn,
        -1: removed.
        """
        target = targets[self._target.values]
        kept = ~np.isin(self._seq.values, np.array(seqs, np.int64)) & (target >= 0)
        self._target.replace(target[kept].astype(np.int32))
        self._place.replace(places[self._place.values[kept]].astype(np.int32))
        for column in (self._seq, self._scale, self._signs, self.codes):
            column.keep(kept)

    def extend(self, seqs: list[int], ids: list[str], codes: Bytes) -> None:
        """Add (n, dimension) vectors, by their numbers in the file and the ids of targets.

        One of zeros is near nothing.
        """
        targets = self._targets.rows_of(ids)
        known = (targets >= 0) & codes.any(axis=1)
        self._seq.extend(np.array(seqs, np.int64)[known])
        self._target.extend(targets[known].astype(np.int32))
        self._place.extend(self._targets.places()[targets[known]].astype(np.int32))
        self._signs.extend(codes[known])
        self._scale.extend(inverse_norms(codes[known]))
        self.codes.extend(codes[known])

    def columns(self) -> dict[str, Array]:
        """Return all arrays but `codes` by name, to be stored."""
        return {
            "seq": self._seq.values,
            "target": self._target.values,
            "place": self._place.values,
            "scale": self._scale.values,
            **self._signs.columns(),
        }

    def nearest(self, vector: Floats, count: int, allowed: Mask | None = None) -> NearestTargets:
        """Return the `count` targets nearest to a unit vector; only those of turns allowed, if any.

        Equals are in the order of their turns, and by id within one turn.
        """
        open_ = None if allowed is None else allowed[self._place.values]
        compared = self._candidates(vector, count, open_)
        similarity = self._similarity(compared, vector)
        best = top_with_ties(similarity, count)
        rows, similarity = compared[best], similarity[best]
        places, targets = self._place.values[rows], self._target.values[rows]
        order = np.lexsort((places, -similarity))
        nearer, before = similarity[order], places[order]
        if ((nearer[1:] == nearer[:-1]) & (before[1:] == before[:-1])).any():
            ids = self._targets.ids.column.values[targets]
            order = np.lexsort((ids, places, -similarity))
        order = order[:count]
        return NearestTargets(targets[order], places[order], similarity[order])

    def ids(self, near: NearestTargets) -> list[str]:
        """Return the ids of targets that `near` found, in order."""
        return self._targets.ids.take(near.targets)

    def _candidates(self, vector: Floats, count: int, open_: Mask | None) -> Ints:
        """Return the rows to compare, of those that are allowed (`open_`)."""
        compared = max(OVERSAMPLING * count, MIN_RESCORED)
        if open_ is None and len(self) <= compared:
            return np.arange(len(self))
        if open_ is not None and np.count_nonzero(open_) <= compared:
            return np.flatnonzero(open_)
        distance = self._signs.distance(vector)
        if open_ is not None:
            distance[~open_] = self._signs.out_of_range
        rows, cut = smallest(distance, compared)
        if open_ is not None:
            rows = rows[open_[rows]]
        if len(rows) <= 2 * compared:
            # To compare a few more equals is cheaper than to choose among them.
            return rows
        return break_ties(rows, distance[rows], cut, compared, self._place.values[rows])

    def _similarity(self, rows: Ints, vector: Floats) -> Floats:
        """Return the cosine of a unit vector and some rows, to about 0.003.

        The vector is taken in whole numbers, as the rows are: sums are exact, in whatever order
        their products are added.
        """
        (code,), (times,) = to_int8(vector[None])
        sums = product(self.codes.take(rows), code)
        similarity: Floats = (sums * self._scale.values[rows] / times).astype(np.float32)
        return similarity


def vectors_of(model: EmbeddingsModel, target_type: str, ids: Sequence[str]) -> Floats:
    """Return the unit vectors of targets, in order, from disk; zeros where there is none."""
    found = dict(
        rows(
            model.connection,
            "SELECT target_id, embedding FROM embeddings WHERE target_type = ? AND model = ? "
            "AND target_id IN (SELECT value FROM json_each(?))",
            (target_type, model.model, json_array(ids)),
        )
    )
    nothing = bytes(model.dimension)
    stacked = np.frombuffer(b"".join(found.get(id_, nothing) for id_ in ids), np.int8)
    return to_unit_vectors(stacked.reshape(len(ids), model.dimension))
