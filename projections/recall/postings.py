"""Where each term stands: read from a full-text index once, and then kept up with what comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from projections.recall.words import Tokeniser

# What was looked up of words is kept: 24 MB of it.
MOST_POSTINGS = 3_000_000
# More texts than this at once, and looking words up again is quicker than reading the texts.
_MOST_FOLLOWED = 1_000

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Posting = tuple[npt.NDArray[np.int32], Floats]


class Postings:
    """For each term the rows that hold it, ascending, and how often each does.

    `look_up` gives the row of each occurrence of a term, ascending; -1 for what is no row.
    """

    def __init__(self, tokeniser: Tokeniser, look_up: Callable[[str], Ints]) -> None:
        self._tokeniser = tokeniser
        self._look_up = look_up
        self._held: dict[str, Posting] = {}
        self._size = 0

    def of(self, term: str) -> Posting:
        """Return the rows of a term, and how often each holds it."""
        if term not in self._held:
            found = self._look_up(term)
            found = found[found >= 0]
            starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
            starts = starts[: len(found)]
            counts = np.diff(np.append(starts, len(found)))
            self._keep(term, (found[starts].astype(np.int32), counts.astype(np.float32)))
        return self._held[term]

    def follow(self, first: int, texts: Sequence[Sequence[str]]) -> None:
        """Add texts, each in parts: the rows from `first` on."""
        if len(texts) > _MOST_FOLLOWED:
            self._held, self._size = {}, 0
        if not self._held:
            return
        came: dict[str, list[tuple[int, int]]] = {}
        for row, parts in enumerate(texts, first):
            counted = Counter(term for part in parts for term in self._tokeniser.all_terms(part))
            for term in counted.keys() & self._held.keys():
                came.setdefault(term, []).append((row, counted[term]))
        for term, pairs in came.items():
            rows, counts = self._held[term]
            more = np.array(pairs)
            self._held[term] = (
                np.concatenate((rows, more[:, 0].astype(np.int32))),
                np.concatenate((counts, more[:, 1].astype(np.float32))),
            )
            self._size += len(more)

    def _keep(self, term: str, posting: Posting) -> None:
        if self._size + len(posting[0]) > MOST_POSTINGS:
            self._held, self._size = {}, 0
        self._held[term] = posting
        self._size += len(posting[0])
