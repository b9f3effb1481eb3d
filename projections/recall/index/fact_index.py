"""The facts of a zone, each with its source turn, and BM25 over their words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import apsw
import numpy as np
import numpy.typing as npt

from recollect.projections.memory import facts_for_recall
from recollect.projections.recall.index.arrays.growable_arrays import (
    Array,
    GrowableArray,
    SparseAccumulator,
    Texts,
    add_prefix,
    select_prefix,
)
from recollect.projections.recall.index.postings import Postings
from recollect.projections.recall.index.turn_index import K1, B, Turns
from recollect.projections.row_changes import has_reused_row

_BLOCK = 50_000

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Facts:
    """Facts in the order of their rowids, with the place of each fact's source turn.

    Facts whose source turn was deleted are excluded.
    """

    def __init__(
        self, connection: apsw.Connection, turns: Turns, columns: Mapping[str, Array] | None = None
    ) -> None:
        self._connection = connection
        self._turns = turns
        stored = columns or {}
        self._rowid = GrowableArray(stored.get("rowid", np.zeros(0, np.int64)))
        self._place = GrowableArray(stored.get("place", np.zeros(0, np.int32)))
        self._length = GrowableArray(stored.get("length", np.zeros(0, np.float32)))
        self.ids = Texts(stored.get("id"))
        # The last rowid that was read, even if its fact was excluded.
        self._seen = int(stored["seen"][0]) if stored else 0
        self.postings = Postings(
            connection,
            "facts_fts",
            partial(_rows_of, self._rowid),
            select_prefix(stored, "postings"),
        )
        self._turns_with_facts: Mask | None = None
        self._sums = SparseAccumulator()
        self._update_norms()

    def follow(self) -> None:
        """Add new facts; their turns must have been added already."""
        while rows := facts_for_recall.facts_after(self._connection, self._seen, _BLOCK):
            self._seen = rows[-1][0]
            places = self._turns.place_of_id.of([event or "" for _, _, event, _ in rows])
            readable = [row for row, place in zip(rows, places.tolist(), strict=True) if place >= 0]
            first = len(self)
            self._place.extend(places[places >= 0].astype(np.int32))
            self._rowid.extend(np.array([row[0] for row in readable], np.int64))
            self._length.extend(np.array([_word_count(row[3]) for row in readable], np.float32))
            self.ids.extend(row[1] for row in readable)
            self.postings.extend(first, [(row[3],) for row in readable])
            self._update_norms()

    def remove(self, rowids: Sequence[int], new_places: Ints) -> Ints | None:
        """Remove the facts with these rowids, and those whose source turn was removed.

        `new_places`: old place of a turn -> its new place, -1 if removed. Return old row of a fact
        -> its new row, -1 if removed; or None if SQLite has reused the rowid of a removed fact for
        another one.
        """
        place = new_places[self.places]
        kept = ~np.isin(self._rowid.values, np.array(rowids, np.int64)) & (place >= 0)
        self._rowid.keep(kept)
        self._seen = int(self._rowid.values.max(initial=0))
        if has_reused_row(self._connection, "facts", rowids, self._seen):
            return None
        self._place.replace(place[kept].astype(np.int32))
        self._length.keep(kept)
        self.ids.keep(kept)
        new_rows = np.where(kept, np.cumsum(kept) - 1, -1)
        self.postings.remove(new_rows)
        self._update_norms()
        return new_rows

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, for storing."""
        return {
            "rowid": self._rowid.values,
            "place": self._place.values,
            "length": self._length.values,
            "id": self.ids.column.values,
            "seen": np.array([self._seen]),
            **add_prefix("postings", self.postings.columns()),
        }

    def __len__(self) -> int:
        return len(self._rowid.values)

    @property
    def places(self) -> Array:
        """The place of each fact's source turn."""
        return self._place.values

    def turns_with_facts(self) -> Mask:
        """Return the mask of turns that are the source of a fact."""
        if self._turns_with_facts is None or len(self._turns_with_facts) != len(self._turns):
            self._turns_with_facts = np.zeros(len(self._turns), bool)
            self._turns_with_facts[self.places] = True
        return self._turns_with_facts

    def rows_of(self, ids: list[str]) -> Ints:
        """Return the row of each fact by id; -1 if there is none."""
        found = facts_for_recall.rowids(self._connection, ids)
        return self.rows_with(np.fromiter((found.get(id_, -1) for id_ in ids), np.int64, len(ids)))

    def rows_with(self, rowids: Ints) -> Ints:
        """Return the row of the fact with each rowid in the file; -1 if there is none."""
        return _rows_of(self._rowid, rowids)

    def places_of(self, ids: list[str]) -> dict[str, int]:
        """Return fact id -> place of its source turn, for the facts that exist."""
        rows = self.rows_of(ids)
        return {
            id_: int(self.places[row])
            for id_, row in zip(ids, rows.tolist(), strict=True)
            if row >= 0
        }

    def bm25(self, terms: list[str]) -> tuple[Ints, Floats]:
        """Return the rows, unordered, and BM25 scores of facts with any of these index terms."""
        return self._sums.add_up([self._term_scores(term) for term in terms], len(self))

    def _term_scores(self, term: str) -> tuple[Ints, Floats]:
        """Return the rows of facts with a term, and its BM25 contribution to each."""
        rows, tf = self.postings.of(term)
        idf = math.log(1 + (len(self) - len(rows) + 0.5) / (len(rows) + 0.5))
        scores = np.float32(idf * (K1 + 1)) * tf / (tf + np.float32(K1) * self._norm[rows])
        return rows.astype(np.int64), scores.astype(np.float32, copy=False)

    def _update_norms(self) -> None:
        lengths = self._length.values
        mean = float(lengths.mean(dtype=np.float64)) if len(lengths) else 1.0
        self._norm = 1 - B + B * lengths / np.float32(max(mean, 1.0))
        self._turns_with_facts = None


def _rows_of(rowid: GrowableArray, rowids: Ints) -> Ints:
    """Return the row of the fact with each rowid; -1 if there is none."""
    known = rowid.values
    if not len(known):
        return np.full(len(rowids), -1)
    rows = np.minimum(np.searchsorted(known, rowids), len(known) - 1)
    return np.where(known[rows] == rowids, rows, -1)


def _word_count(text: str) -> int:
    """Return the number of words of a text, split at spaces."""
    return text.count(" ") + 1
