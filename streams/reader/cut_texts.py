"""Texts before any head sees them: their words and sentences, one text after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from projections.text.sentences import sentences
from streams.reader.word_cutter import Place, words_of

#: Where words or sentences begin and end: (n, 2) characters, counted through all texts.
Places = npt.NDArray[np.int64]


class CutTexts:
    """Texts that are read together.

    `bases` says where each of them begins, when characters are counted through all of them, and
    `firsts` the number of its first word, with the number of all words at the end.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        cut = [words_of(text) for text in texts]
        self.words = [
            text[start:end]
            for text, places in zip(texts, cut, strict=True)
            for start, end in places
        ]
        self.spans = [sentences(text) for text in texts]
        # A character stands between two texts: no word ends where that of another text begins.
        self.bases = list(accumulate((len(text) + 1 for text in texts), initial=0))[:-1]
        self.firsts = list(accumulate(map(len, cut), initial=0))
        self.places = self._through_all(cut)
        self.sentences = self._through_all(self.spans)

    @property
    def spaced(self) -> npt.NDArray[np.bool_]:
        """Whether a blank stands before each word, or nothing: marks are words as well."""
        found = np.ones(len(self.places), bool)
        found[1:] = self.places[1:, 0] != self.places[:-1, 1]
        return found

    def _through_all(self, found: Sequence[Sequence[Place]]) -> Places:
        flat = [place for places in found for place in places]
        counts = [len(places) for places in found]
        places: Places = np.array(flat, np.int64).reshape(-1, 2)
        places += np.repeat(self.bases, counts)[:, None]
        return places
