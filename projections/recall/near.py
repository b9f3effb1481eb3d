"""The targets nearest to a vector: exact, and the same whether vectors are in memory or not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.recall.fusion import close_to_top
from projections.recall.vectors import MOST_NEIGHBOURS, Vectors

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# How far a similarity may be off by the order in which its products were added.
_ROUNDING = 1e-5
# Neighbours beyond those asked for, to see whether the last of them stand alone.
_SPARE = 32


class Near(NamedTuple):
    """Targets near a vector, nearest first: ids, places of their turns, cosine similarities."""

    ids: list[str]
    places: Ints
    similarity: Floats


class Targets:
    """Turns or facts with their vectors; `place_of` gives the turn where each was said.

    A target of which `place_of` knows nothing can no longer be read.
    """

    def __init__(self, vectors: Vectors, place_of: Callable[[], Mapping[str, int]]) -> None:
        self.vectors = vectors
        self._place_of = place_of
        self._resident_places: Ints | None = None

    def near(self, vector: Floats, count: int, allowed: Mask, *, thorough: bool) -> Near:
        """Return the `count` targets nearest to a unit vector among those of allowed turns.

        `thorough`: not every turn is allowed, so no vector may be left out before. Equals come
        in the order of their ids.
        """
        found = None
        if not (thorough or self.vectors.resident):
            found = self._nearest_on_disk(vector, count)
        ids, places, rough = found or self._all(vector)
        open_ = places >= 0
        open_[open_] = allowed[places[open_]]
        close = close_to_top(np.where(open_, rough, -np.inf), count, _ROUNDING)
        names = [ids[index] for index in close]
        rows = self.vectors.rows(close) if found is None else None
        if rows is None:
            rows = self.vectors.of(names)
        # In double precision, products give one single-precision sum in whatever order they come.
        exact = rows.astype(np.float64) @ vector.astype(np.float64)
        similarity = exact.astype(np.float32)
        best = np.argsort(-similarity, kind="stable")[:count]
        return Near([names[index] for index in best], places[close[best]], similarity[best])

    def _all(self, vector: Floats) -> tuple[list[str], Ints, Floats]:
        ids, similarity = self.vectors.similarities(vector)
        if not self.vectors.resident:
            return ids, self._places(ids), similarity
        if self._resident_places is None:
            self._resident_places = self._places(ids)
        return ids, self._resident_places, similarity

    def _nearest_on_disk(self, vector: Floats, count: int) -> tuple[list[str], Ints, Floats] | None:
        """Return what the index on disk finds, by id; None where that may not be all."""
        asked = min(count + _SPARE, MOST_NEIGHBOURS)
        found, similarity = self.vectors.nearest(vector, asked)
        cut_off = len(found) == asked
        if cut_off and (asked <= count or similarity[count - 1] - similarity[-1] <= _ROUNDING):
            return None
        by_id = sorted(range(len(found)), key=found.__getitem__)
        ids = [found[index] for index in by_id]
        places = self._places(ids)
        # What can no longer be read must not take the place of what can.
        return (ids, places, similarity[by_id]) if (places >= 0).all() else None

    def _places(self, ids: Sequence[str]) -> Ints:
        place_of = self._place_of()
        return np.fromiter((place_of.get(id_, -1) for id_ in ids), np.int64, len(ids))
