"""Posting lists, read from a full-text index once and then updated incrementally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import apsw
import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import (
    Array,
    concat_ranges,
    delete_at,
)
from recollect.projections.recall.index.index_terms import Tokeniser

# If an update adds more than this many texts, and more than this share of the existing rows, it is
# faster to read the full-text index again.
_MAX_INCREMENTAL_TEXTS = 1_000
_MAX_INCREMENTAL_SHARE = 0.1
# Terms read at a time.
_BLOCK = 2_000
# Total number of rows in cached posting lists. They take up to 24 MB, but lists that are views of
# stored arrays take nothing.
MAX_CACHED_POSTINGS = 3_000_000
# FTS5 truncates longer terms (FTS5_MAX_TOKEN_SIZE), even within a character.
_MAX_TERM_BYTES = 32_768

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Posting = tuple[npt.NDArray[np.int32], Floats]
_Added = tuple[list[int], list[int]]


class _PostingLists(NamedTuple):
    """The posting lists of all terms, concatenated.

    `terms`: digests of the terms, ascending. `ends`: the end of each term's list in `rows` and
    `counts` (term frequencies).
    """

    terms: npt.NDArray[np.uint64]
    ends: Ints
    rows: npt.NDArray[np.int32]
    counts: Floats

    def of(self, term: int) -> Posting:
        """Return the posting list of a term, given by its digest."""
        index = int(self.terms.searchsorted(np.uint64(term)))
        if index == len(self.terms) or self.terms[index] != term:
            return self.rows[:0], self.counts[:0]
        list_ = slice(self.ends[index - 1] if index else 0, self.ends[index])
        return self.rows[list_], self.counts[list_]


class Postings:
    """The rows that contain each term, ascending, with term frequencies; terms are kept as digests.

    `table`: the full-text index. `rows_of` maps its document ids to rows; -1 if there is none.
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
        # None until first read, see `_posting_lists`.
        self._lists = _PostingLists(**columns) if columns else None
        self._added: dict[int, _Added] = {}
        self._cached: dict[str, Posting] = {}
        self._size = 0

    def of(self, term: str) -> Posting:
        """Return the rows that contain a term, and its frequency in each."""
        if term not in self._cached:
            self._cache(term, self._posting(_digest(_truncate(term))))
        return self._cached[term]

    def _cache(self, term: str, posting: Posting) -> None:
        self._size += len(posting[0]) + 1
        if self._size > MAX_CACHED_POSTINGS:
            self._cached, self._size = {}, len(posting[0])
        self._cached[term] = posting

    def _posting_lists(self) -> _PostingLists:
        """Return the posting lists as last read or merged, without the rows in `_added`."""
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
        """Add texts, each a sequence of columns, as the rows from `first` on."""
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
        """Remove rows, and terms that no row contains any more.

        `new_rows`: old row -> new row, -1 if removed.
        """
        self._cached, self._size = {}, 0
        if self._lists is None:
            return
        self._merge()
        terms, ends, rows, counts = self._lists
        rows = new_rows.astype(np.int32).take(rows)
        removed = np.flatnonzero(rows < 0)
        ends = ends - np.searchsorted(removed, ends)
        used = np.diff(ends, prepend=0) > 0
        self._lists = _PostingLists(
            terms[used], ends[used], delete_at(rows, removed), delete_at(counts, removed)
        )

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, for storing."""
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
        """Read the posting lists of the full-text index."""
        lists = [_make_lists([], [], [], [])]
        term_occurrences = _occurrences(self._connection, self._table)
        while block := list(islice(term_occurrences, _BLOCK)):
            occurrences = [ids.count(" ") + 1 for _, ids in block]
            documents = np.fromstring(" ".join(ids for _, ids in block), np.int64, sep=" ")
            rows, term = self._rows_of(documents), np.repeat(np.arange(len(block)), occurrences)
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
    """Return each term of a full-text index with the ids of the documents that contain it.

    The ids are separated by spaces and ascend; there is one for each occurrence. This is five times
    as fast as a row per occurrence. A term that FTS5 truncated may end within a character.
    """
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_terms "
        f"USING fts5vocab(main, {table}, instance)"
    )
    return connection.execute(
        f"SELECT CAST(term AS BLOB), group_concat(doc, ' ') FROM temp.{table}_terms GROUP BY term"
    )


def _digest(term: bytes) -> int:
    """Return a 64-bit digest that identifies a term.

    Terms with equal digests count as one. Among a million terms, the probability of that is one in
    thirty million.
    """
    return int.from_bytes(blake2b(term, digest_size=8).digest(), "little")


def _truncate(term: str) -> bytes:
    """Return a term as FTS5 stores it."""
    return term.encode()[:_MAX_TERM_BYTES]


def _make_lists(
    terms: Sequence[int], lengths: npt.ArrayLike, rows: npt.ArrayLike, counts: npt.ArrayLike
) -> _PostingLists:
    """Build posting lists, given the length of each term's list."""
    return _PostingLists(
        np.array(terms, np.uint64),
        np.cumsum(lengths, dtype=np.int64),
        np.asarray(rows, np.int32),
        np.asarray(counts, np.float32),
    )


def _lists_of_added(added: Mapping[int, _Added]) -> _PostingLists:
    """Return the posting lists of added rows."""
    rows, counts = ([value for lists in added.values() for value in lists[part]] for part in (0, 1))
    return _make_lists(list(added), [len(lists[0]) for lists in added.values()], rows, counts)


def _merge_lists(parts: Sequence[_PostingLists]) -> _PostingLists:
    """Merge posting lists by term; lists of the same term are concatenated in the given order."""
    terms, rows, counts = (np.concatenate([lists[part] for lists in parts]) for part in (0, 2, 3))
    lengths = np.concatenate([np.diff(lists.ends, prepend=0) for lists in parts])
    order = np.argsort(terms, kind="stable")
    order = order[lengths[order] > 0]
    starts, lengths = (np.cumsum(lengths) - lengths)[order], lengths[order]
    rows, counts = (_gather_lists(values, starts, lengths) for values in (rows, counts))
    terms, ends = terms[order], np.cumsum(lengths)
    last = np.ones(len(terms), bool)
    np.not_equal(terms[1:], terms[:-1], out=last[:-1])
    return _PostingLists(terms[last], ends[last], rows, counts)


def _gather_lists(values: Array, starts: Ints, lengths: Ints) -> Array:
    """Return the concatenated values of lists; done in blocks to bound memory."""
    blocks = (slice(first, first + _BLOCK) for first in range(0, len(starts), _BLOCK))
    new_rows = [values[concat_ranges(starts[block], lengths[block])] for block in blocks]
    return np.concatenate([values[:0], *new_rows])
