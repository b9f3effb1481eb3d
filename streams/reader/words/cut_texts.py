"""A batch of texts, split into words and sentences before the heads see them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.words.known_words import looks_in
from recollect.streams.reader.words.word_cutter import Place
from recollect.text.sentences import sentences

#: Bounds of words or sentences: (n, 2) characters, counted through all texts.
Places = npt.NDArray[np.int64]

# No code point after this one is white space.
_LAST_BLANK = 0x3000
_BLANK = np.array([chr(each).isspace() for each in range(_LAST_BLANK + 2)])


class CutTexts:
    """A batch of texts.

    `bases` has the offset of each text in the concatenated batch, and `firsts` the index of its
    first word in the batch, followed by the total number of words. `looks` are the looks of the
    words.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        # Texts are joined by one character, so no word extends from one text into the next.
        line = "\n".join(texts)
        self.bases = list(accumulate((len(text) + 1 for text in texts), initial=0))[:-1]
        self.looks, lengths = looks_in(line)
        self.places = _places(line, lengths)
        self.firsts = [*np.searchsorted(self.places[:, 0], self.bases).tolist(), len(lengths)]
        self.spans = [sentences(text) for text in texts]
        self.sentences = self._through_all(self.spans)

    @property
    def spaced(self) -> npt.NDArray[np.bool_]:
        """Whether each word, or mark, follows white space or begins the text."""
        found = np.ones(len(self.places), bool)
        found[1:] = self.places[1:, 0] != self.places[:-1, 1]
        return found

    def _through_all(self, found: Sequence[Sequence[Place]]) -> Places:
        flat = [place for places in found for place in places]
        counts = [len(places) for places in found]
        places: Places = np.array(flat, np.int64).reshape(-1, 2)
        places += np.repeat(self.bases, counts)[:, None]
        return places


def _places(line: str, lengths: npt.NDArray[np.int64]) -> Places:
    """Return the bounds of words of these lengths: every character but white space is in a word."""
    points = np.frombuffer(line.encode("utf-32-le", "surrogatepass"), np.uint32)
    filled = np.flatnonzero(~_BLANK[np.minimum(points, _LAST_BLANK + 1)])
    after = np.cumsum(lengths)
    places = np.empty((len(lengths), 2), np.int64)
    places[:, 0] = filled[after - lengths]
    places[:, 1] = filled[after - 1] + 1
    return places
