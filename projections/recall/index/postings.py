"""Postings: which rows have each term, read from a full-text index once and then updated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import apsw
import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.growable_arrays import Array, concat_ranges, delete_at
from recollect.projections.recall.index.index_terms import Tokeniser

# Where more texts than this are added, and more than a tenth of those there are, it is faster to
# read the full-text index again.
_MAX_INCREMENTAL_TEXTS = 1_000
_MAX_INCREMENTAL_SHARE = 0.1
# Terms read at a time.
_BLOCK = 2_000
# Rows of cached postings: 24 MB, where they had to be copied.
MAX_CACHED_POSTINGS = 3_000_000
# FTS5 cuts longer terms (FTS5_MAX_TOKEN_SIZE), even within a character.
_MAX_TERM_BYTES = 32_768

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Posting = tuple[npt.NDArray[np.int32], Floats]
_Added = tuple[list[int], list[int]]


class _PostingLists(NamedTuple):
    """The lists of all terms, one after the other.

    `terms`: the terms' digests, ascending. `ends`: where the list of each ends in `rows` and
    `counts`.
    """

    terms: npt.NDArray[np.uint64]
    ends: Ints
    rows: npt.NDArray[np.int32]
    counts: Floats

    def of(self, term: int) -> Posting:
        place = int(self.terms.searchsorted(np.uint64(term)))
        if place == len(self.terms) or self.terms[place] != term:
            return self.rows[:0], self.counts[:0]
        list_ = slice(self.ends[place - 1] if place else 0, self.ends[place])
        return self.rows[list_], self.counts[list_]


class Postings:
    """For each term the rows that have it, ascending, and how often; the terms are not stored.

    `table` is the full-text index; `rows_of` gives the rows of its documents, -1: it has none.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        table: str,
        rows_of: Callable[[Ints], Ints],
        columns: Mapping[str, Array] | None = None,
    ) -> None:
        self._connection = connection
        self._table = table
        self._rows_of = rows_of
        self._tokeniser = Tokeniser(connection)
        # None: not read yet; see `_posting_lists`.
        self._lists = _PostingLists(**columns) if columns else None
        self._added: dict[int, _Added] = {}
        self._cached: dict[str, Posting] = {}
        self._size = 0

    def of(self, term: str) -> Posting:
        """Return the rows with a term, and how often each has it."""
        if term not in self._cached:
            self._cache(term, self._posting(_digest(_truncate(term))))
        return self._cached[term]

    def _cache(self, term: str, posting: Posting) -> None:
        self._size += len(posting[0]) + 1
        if self._size > MAX_CACHED_POSTINGS:
            self._cached, self._size = {}, len(posting[0])
        self._cached[term] = posting

    def _posting_lists(self) -> _PostingLists:
        """Return the lists without the rows that were added since they were read."""
        if self._lists is None:
            self._lists = self._read()
        return self._lists

    def _posting(self, term: int) -> Posting:
        rows, counts = self._posting_lists().of(term)
        if (added := self._added.get(term)) is None:
            return rows, counts
        return (
            np.concatenate((rows, np.array(added[0], np.int32))),
            np.concatenate((counts, np.array(added[1], np.float32))),
        )

    def extend(self, first: int, texts: Sequence[Sequence[str]]) -> None:
        """Add texts, each as a list of columns: the rows from `first` on."""
        self._cached, self._size = {}, 0
        if len(texts) > max(_MAX_INCREMENTAL_TEXTS, _MAX_INCREMENTAL_SHARE * first):
            self._lists, self._added = None, {}
        if self._lists is None:
            return
        for row, parts in enumerate(texts, first):
            terms = (_truncate(term) for part in parts for term in self._tokeniser.all_terms(part))
            for term, count in Counter(terms).items():
                rows, counts = self._added.setdefault(_digest(term), ([], []))
                rows.append(row)
                counts.append(count)

    def remove(self, new_rows: Ints) -> None:
        """Remove rows: `new_rows` has the new number of each row, -1 where it is removed.

        Terms that no row has any more are removed with them.
        """
        self._cached, self._size = {}, 0
        if self._lists is None:
            return
        self._merge()
        terms, ends, rows, counts = self._lists
        rows = new_rows.astype(np.int32).take(rows)
        gone = np.flatnonzero(rows < 0)
        ends = ends - np.searchsorted(gone, ends)
        somewhere = np.diff(ends, prepend=0) > 0
        self._lists = _PostingLists(
            terms[somewhere], ends[somewhere], delete_at(rows, gone), delete_at(counts, gone)
        )

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, to be stored."""
        self._merge()
        return self._posting_lists()._asdict()

    def _merge(self) -> None:
        """Merge the added rows into the lists."""
        if self._added:
            self._lists, self._added = (
                _merge_lists([self._posting_lists(), _lists_of_added(self._added)]),
                {},
            )

    def _read(self) -> _PostingLists:
        """Return the lists of the full-text index."""
        lists = [_make_lists([], [], [], [])]
        found = _occurrences(self._connection, self._table)
        while block := list(islice(found, _BLOCK)):
            times = [ids.count(" ") + 1 for _, ids in block]
            documents = np.fromstring(" ".join(ids for _, ids in block), np.int64, sep=" ")
            rows, term = self._rows_of(documents), np.repeat(np.arange(len(block)), times)
            rows, term = rows[rows >= 0], term[rows >= 0]
            first = np.ones(len(rows), bool)
            first[1:] = (rows[1:] != rows[:-1]) | (term[1:] != term[:-1])
            starts = np.flatnonzero(first)
            lengths = np.bincount(term[starts], minlength=len(block))
            digests = [_digest(word) for word, _ in block]
            lists.append(
                _make_lists(digests, lengths, rows[starts], np.diff(starts, append=len(rows)))
            )
        return _merge_lists(lists)


def _occurrences(connection: apsw.Connection, table: str) -> Iterator[tuple[bytes, str]]:
    """Return each term of a full-text index with the documents that have it.

    These ascend, separated by blanks, one for each occurrence: five times as fast as a row for
    each. A term that FTS5 cut may end within a character.
    """
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_terms "
        f"USING fts5vocab(main, {table}, instance)"
    )
    return connection.execute(
        f"SELECT CAST(term AS BLOB), group_concat(doc, ' ') FROM temp.{table}_terms GROUP BY term"
    )


def _digest(term: bytes) -> int:
    """Return the 64 bits that identify a term.

    Among a million terms, two have the same with a probability of one in thirty million; they
    count as one.
    """
    return int.from_bytes(blake2b(term, digest_size=8).digest(), "little")


def _truncate(term: str) -> bytes:
    """Return a term as FTS5 has it."""
    return term.encode()[:_MAX_TERM_BYTES]


def _make_lists(
    terms: Sequence[int], lengths: npt.ArrayLike, rows: npt.ArrayLike, counts: npt.ArrayLike
) -> _PostingLists:
    """Return the lists of terms, of these lengths, in this order."""
    return _PostingLists(
        np.array(terms, np.uint64),
        np.cumsum(lengths, dtype=np.int64),
        np.asarray(rows, np.int32),
        np.asarray(counts, np.float32),
    )


def _lists_of_added(added: Mapping[int, _Added]) -> _PostingLists:
    """Return the lists of added rows."""
    rows, counts = ([value for lists in added.values() for value in lists[part]] for part in (0, 1))
    return _make_lists(list(added), [len(lists[0]) for lists in added.values()], rows, counts)


def _merge_lists(some: Sequence[_PostingLists]) -> _PostingLists:
    """Return all lists merged, by term; those of one term follow one another in the given order."""
    terms, rows, counts = (np.concatenate([lists[part] for lists in some]) for part in (0, 2, 3))
    lengths = np.concatenate([np.diff(lists.ends, prepend=0) for lists in some])
    order = np.argsort(terms, kind="stable")
    order = order[lengths[order] > 0]
    starts, lengths = (np.cumsum(lengths) - lengths)[order], lengths[order]
    rows, counts = (_gather_lists(values, starts, lengths) for values in (rows, counts))
    terms, ends = terms[order], np.cumsum(lengths)
    last = np.ones(len(terms), bool)
    np.not_equal(terms[1:], terms[:-1], out=last[:-1])
    return _PostingLists(terms[last], ends[last], rows, counts)


def _gather_lists(values: Array, starts: Ints, lengths: Ints) -> Array:
    """Return the values of lists, one after the other; in blocks, since places take memory."""
    blocks = (slice(first, first + _BLOCK) for first in range(0, len(starts), _BLOCK))
    new_rows = [values[concat_ranges(starts[block], lengths[block])] for block in blocks]
    return np.concatenate([values[:0], *new_rows])
