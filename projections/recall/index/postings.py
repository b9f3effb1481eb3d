"""Where each term stands: read from a full-text index once, and then kept up with what comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import apsw
import numpy as np
import numpy.typing as npt

from projections.recall.index.growable_arrays import Array, ranges, without
from projections.recall.index.index_terms import Tokeniser

# More texts than these at once, and a tenth of those that are held, and reading the full-text
# index is quicker than reading the texts.
_MOST_FOLLOWED = 1_000
_MOST_FOLLOWED_SHARE = 0.1
# Terms that are read at a time.
_BLOCK = 2_000
# What was looked up of words is kept: 24 MB of it, where it had to be copied.
MOST_POSTINGS = 3_000_000
# FTS5 cuts longer terms (FTS5_MAX_TOKEN_SIZE), be it within a character.
_LONGEST = 32_768

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Posting = tuple[npt.NDArray[np.int32], Floats]
_Came = tuple[list[int], list[int]]


class _Lists(NamedTuple):
    """The lists of all terms, one after the other.

    `terms`: the terms' digests, ascending, and `ends`: where the list of each ends in `rows` and
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
    """For each term the rows that hold it, ascending, and how often each does; no term itself.

    `table` is the full-text index; `rows_of` gives the rows of its documents, -1 for what is none.
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
        # None: not read yet; see `_known`.
        self._lists = _Lists(**columns) if columns else None
        self._came: dict[int, _Came] = {}
        self._held: dict[str, Posting] = {}
        self._size = 0

    def of(self, term: str) -> Posting:
        """Return the rows of a term, and how often each holds it."""
        if term not in self._held:
            self._keep(term, self._posting(_digest(_cut(term))))
        return self._held[term]

    def _keep(self, term: str, posting: Posting) -> None:
        self._size += len(posting[0]) + 1
        if self._size > MOST_POSTINGS:
            self._held, self._size = {}, len(posting[0])
        self._held[term] = posting

    def _known(self) -> _Lists:
        """Return the lists without what came since they were read."""
        if self._lists is None:
            self._lists = self._read()
        return self._lists

    def _posting(self, term: int) -> Posting:
        rows, counts = self._known().of(term)
        if (came := self._came.get(term)) is None:
            return rows, counts
        return (
            np.concatenate((rows, np.array(came[0], np.int32))),
            np.concatenate((counts, np.array(came[1], np.float32))),
        )

    def follow(self, first: int, texts: Sequence[Sequence[str]]) -> None:
        """Add texts, each in parts: the rows from `first` on."""
        self._held, self._size = {}, 0
        if len(texts) > max(_MOST_FOLLOWED, _MOST_FOLLOWED_SHARE * first):
            self._lists, self._came = None, {}
        if self._lists is None:
            return
        for row, parts in enumerate(texts, first):
            terms = (_cut(term) for part in parts for term in self._tokeniser.all_terms(part))
            for term, count in Counter(terms).items():
                rows, counts = self._came.setdefault(_digest(term), ([], []))
                rows.append(row)
                counts.append(count)

    def remove(self, moved: Ints) -> None:
        """Take rows out: `moved` has the new number of each row, -1 where it went.

        A term that stands nowhere any more goes with them.
        """
        self._held, self._size = {}, 0
        if self._lists is None:
            return
        self._merge()
        terms, ends, rows, counts = self._lists
        rows = moved.astype(np.int32).take(rows)
        gone = np.flatnonzero(rows < 0)
        ends = ends - np.searchsorted(gone, ends)
        somewhere = np.diff(ends, prepend=0) > 0
        self._lists = _Lists(
            terms[somewhere], ends[somewhere], without(rows, gone), without(counts, gone)
        )

    def columns(self) -> dict[str, Array]:
        """Return everything that these are, to be given to another."""
        self._merge()
        return self._known()._asdict()

    def _merge(self) -> None:
        """Put what came into the lists."""
        if self._came:
            self._lists, self._came = _together([self._known(), _lists_of(self._came)]), {}

    def _read(self) -> _Lists:
        """Return the lists of the full-text index."""
        lists = [_lists([], [], [], [])]
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
            lists.append(_lists(digests, lengths, rows[starts], np.diff(starts, append=len(rows))))
        return _together(lists)


def _occurrences(connection: apsw.Connection, table: str) -> Iterator[tuple[bytes, str]]:
    """Return each term of a full-text index with the documents in which it stands.

    These ascend, parted by blanks, one for each time: five times as fast as a row for each. A term
    that FTS5 cut may end within a character.
    """
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_terms "
        f"USING fts5vocab(main, {table}, instance)"
    )
    return connection.execute(
        f"SELECT CAST(term AS BLOB), group_concat(doc, ' ') FROM temp.{table}_terms GROUP BY term"
    )


def _digest(term: bytes) -> int:
    """Return 64 bits by which a term is known.

    That two of a million have the same, and count as one, is as likely as one in thirty million.
    """
    return int.from_bytes(blake2b(term, digest_size=8).digest(), "little")


def _cut(term: str) -> bytes:
    """Return a term as FTS5 has it."""
    return term.encode()[:_LONGEST]


def _lists(
    terms: Sequence[int], lengths: npt.ArrayLike, rows: npt.ArrayLike, counts: npt.ArrayLike
) -> _Lists:
    """Return the lists of terms, of these lengths, in this order."""
    return _Lists(
        np.array(terms, np.uint64),
        np.cumsum(lengths, dtype=np.int64),
        np.asarray(rows, np.int32),
        np.asarray(counts, np.float32),
    )


def _lists_of(came: Mapping[int, _Came]) -> _Lists:
    """Return the lists of what came."""
    rows, counts = ([value for lists in came.values() for value in lists[part]] for part in (0, 1))
    return _lists(list(came), [len(lists[0]) for lists in came.values()], rows, counts)


def _together(some: Sequence[_Lists]) -> _Lists:
    """Return the lists of all, by term: of one term, in the order that is given."""
    terms, rows, counts = (np.concatenate([lists[part] for lists in some]) for part in (0, 2, 3))
    lengths = np.concatenate([np.diff(lists.ends, prepend=0) for lists in some])
    order = np.argsort(terms, kind="stable")
    order = order[lengths[order] > 0]
    starts, lengths = (np.cumsum(lengths) - lengths)[order], lengths[order]
    rows, counts = (_moved(values, starts, lengths) for values in (rows, counts))
    terms, ends = terms[order], np.cumsum(lengths)
    last = np.ones(len(terms), bool)
    np.not_equal(terms[1:], terms[:-1], out=last[:-1])
    return _Lists(terms[last], ends[last], rows, counts)


def _moved(values: Array, starts: Ints, lengths: Ints) -> Array:
    """Return the values of lists, one after the other; a few at a time, for places are wide."""
    blocks = (slice(first, first + _BLOCK) for first in range(0, len(starts), _BLOCK))
    moved = [values[ranges(starts[block], lengths[block])] for block in blocks]
    return np.concatenate([values[:0], *moved])
