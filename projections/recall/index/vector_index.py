"""Vector search over one target type: a scan of bit codes, then rescoring with int8 vectors."""

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
from recollect.projections.recall.index.arrays.bit_codes import BitCodes, break_ties, smallest
from recollect.projections.recall.index.arrays.growable_arrays import (
    Array,
    GrowableArray,
    GrowableRows,
    Texts,
)
from recollect.projections.recall.index.arrays.int8_products import product
from recollect.projections.recall.index.arrays.selection import top_with_ties
from recollect.projections.sqlite import json_array, rows

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Number of vectors that are rescored per requested result; they have the nearest bit codes.
OVERSAMPLING = 8
# The minimum number of vectors rescored.
MIN_RESCORED = 400


class NearestTargets(NamedTuple):
    """The targets nearest to a vector, best first: rows, places of their turns, cosines."""

    targets: Ints
    places: Ints
    similarity: Floats


class VectorTargets(NamedTuple):
    """The targets of vectors: id -> row (-1 if unknown), row -> id, row -> place of its turn."""

    rows_of: Callable[[list[str]], Ints]
    ids: Texts
    places: Callable[[], Array]


class Vectors:
    """The vectors of the indexed model, for targets whose text is readable."""

    def __init__(
        self,
        dimension: int,
        targets: VectorTargets,
        columns: Mapping[str, Array] | None = None,
    ) -> None:
        self._targets = targets
        stored = columns or {}
        self._seq = GrowableArray(stored.get("seq", np.zeros(0, np.int64)))
        self._target = GrowableArray(stored.get("target", np.zeros(0, np.int32)))
        self._place = GrowableArray(stored.get("place", np.zeros(0, np.int32)))
        self._signs = BitCodes(dimension, columns)
        # The inverse norm of each vector.
        self._scale = GrowableArray(stored.get("scale", np.zeros(0, np.float32)))
        self.codes = GrowableRows(
            stored.get("codes"), np.int8, dimension, stored.get("codes.lying")
        )

    def __len__(self) -> int:
        return len(self._target.values)

    @property
    def last_seq(self) -> int:
        """The highest `seq` of an indexed vector; 0 if there is none."""
        return int(self._seq.values.max(initial=0))

    def remove(self, seqs: Sequence[int], targets: Ints, places: Ints) -> None:
        """Remove the vectors with these `seq` numbers, and those of removed targets.

        `targets`: old row of a target -> new row; `places`: old place of a turn -> new place; -1
        if removed.
        """
        target = targets[self._target.values]
        kept = ~np.isin(self._seq.values, np.array(seqs, np.int64)) & (target >= 0)
        self._target.replace(target[kept].astype(np.int32))
        self._place.replace(places[self._place.values[kept]].astype(np.int32))
        for column in (self._seq, self._scale, self._signs, self.codes):
            column.keep(kept)

    def extend(self, seqs: list[int], ids: list[str], codes: Bytes) -> None:
        """Add (n, dimension) vectors, given their `seq` numbers and target ids.

        Zero vectors are skipped, since they have no direction.
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
        """Return all arrays except `codes` by name, for storing."""
        return {
            "seq": self._seq.values,
            "target": self._target.values,
            "place": self._place.values,
            "scale": self._scale.values,
            **self._signs.columns(),
        }

    def nearest(self, vector: Floats, count: int, allowed: Mask | None = None) -> NearestTargets:
        """Return the `count` targets nearest to a unit vector; only of `allowed` turns, if given.

        Ties are ordered by turn, and by id within a turn.
        """
        is_allowed = None if allowed is None else allowed[self._place.values]
        candidates = self._candidates(vector, count, is_allowed)
        similarity = self._similarity(candidates, vector)
        best = top_with_ties(similarity, count)
        rows, similarity = candidates[best], similarity[best]
        places, targets = self._place.values[rows], self._target.values[rows]
        order = np.lexsort((places, -similarity))
        ranked, ranked_places = similarity[order], places[order]
        is_tied = (ranked[1:] == ranked[:-1]) & (ranked_places[1:] == ranked_places[:-1])
        if is_tied.any():
            ids = self._targets.ids.column.values[targets]
            order = np.lexsort((ids, places, -similarity))
        order = order[:count]
        return NearestTargets(targets[order], places[order], similarity[order])

    def ids(self, near: NearestTargets) -> list[str]:
        """Return the ids of the targets in `near`, in order."""
        return self._targets.ids.take(near.targets)

    def _candidates(self, vector: Floats, count: int, is_allowed: Mask | None) -> Ints:
        """Return the rows to rescore; only allowed rows, if a mask is given."""
        rescored = max(OVERSAMPLING * count, MIN_RESCORED)
        if is_allowed is None and len(self) <= rescored:
            return np.arange(len(self))
        if is_allowed is not None and np.count_nonzero(is_allowed) <= rescored:
            return np.flatnonzero(is_allowed)
        distance = self._signs.distance(vector)
        if is_allowed is not None:
            distance[~is_allowed] = self._signs.out_of_range
        rows, cut = smallest(distance, rescored)
        if is_allowed is not None:
            rows = rows[is_allowed[rows]]
        if len(rows) <= 2 * rescored:
            # Rescoring a few more ties is cheaper than choosing among them.
            return rows
        return break_ties(rows, distance[rows], cut, rescored, self._place.values[rows])

    def _similarity(self, rows: Ints, vector: Floats) -> Floats:
        """Return the cosine of a unit vector to each row, with an error of about 0.003.

        The vector is quantised as the rows are, so that sums are exact in any order.
        """
        (code,), (factor,) = to_int8(vector[None])
        sums = product(self.codes.take(rows), code)
        similarity: Floats = (sums * self._scale.values[rows] / factor).astype(np.float32)
        return similarity


def vectors_of(model: EmbeddingsModel, target_type: str, ids: Sequence[str]) -> Floats:
    """Read the unit vectors of targets from the file, in order; zeros for missing ones."""
    vectors = dict(
        rows(
            model.connection,
            "SELECT target_id, embedding FROM embeddings WHERE target_type = ? AND model = ? "
            "AND target_id IN (SELECT value FROM json_each(?))",
            (target_type, model.model, json_array(ids)),
        )
    )
    zeros = bytes(model.dimension)
    stacked = np.frombuffer(b"".join(vectors.get(id_, zeros) for id_ in ids), np.int8)
    return to_unit_vectors(stacked.reshape(len(ids), model.dimension))
