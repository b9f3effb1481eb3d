"""Gathering the states of the words of several texts, which heads then see together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from streams.encoder.encoder import HiddenStates
from streams.encoder.onnx_encoder import OnnxEncoder
from streams.reader.head_file import HeadFile
from streams.reader.word_cutter import Place
from streams.reader.word_states import Floats, of_words, whole_numbers

# Pieces are made words when there are so many: a long text need not hold both.
_MOST_PIECES = 4_096


class StateGatherer:
    """Holds the states of words as whole numbers: texts one after the other, layers side by
    side.
    """

    def __init__(self, encoder: OnnxEncoder, heads: HeadFile, layers: Sequence[int]) -> None:
        self._encoder = encoder
        self._layers = [
            (layer, heads.middles[layer].array(), heads.scales[layer].array()) for layer in layers
        ]
        self._columns = len(layers) * encoder.dimension

    def of_texts(
        self, texts: Iterator[tuple[str, Sequence[Place], Sequence[Place], HiddenStates]]
    ) -> Floats:
        """Return (words, columns) states; each text with the places of its words and sentences."""
        gathered = _Gathered(self._columns)
        for text, places, spans, states in texts:
            if states.whole:
                self._add(gathered, states, places, len(text))
            else:
                self._add_windows(gathered, text, places, spans)
        return gathered.rows()

    def _add(
        self, gathered: _Gathered, states: HiddenStates, places: Sequence[Place], length: int
    ) -> None:
        numbers = np.empty((len(states.tokens.offsets), self._columns), np.float32)
        at = 0
        for layer, middle, scale in self._layers:
            found = states.inner.get(layer, states.tokens.vectors)
            whole_numbers(found, middle, scale, out=numbers[:, at : at + len(middle)])
            at += len(middle)
        gathered.add(numbers, states.tokens.offsets, places, length)

    def _add_windows(
        self, gathered: _Gathered, text: str, places: Sequence[Place], spans: Sequence[Place]
    ) -> None:
        """Add a long text, which is read sentence by sentence."""
        at = 0
        for left, right in _windows(text, spans):
            within = []
            while at < len(places) and places[at][0] < right:
                # A word that runs on is seen as far as its window goes.
                within.append((places[at][0] - left, min(places[at][1], right) - left))
                at += 1
            self._add_within(gathered, text[left:right], within)

    def _add_within(self, gathered: _Gathered, text: str, places: list[Place]) -> None:
        """Add a window, which is halved until the encoder sees it whole."""
        if not places:
            return
        states = self._encoder.hidden_states(text)
        if states.whole or len(places) == 1:
            self._add(gathered, states, places, len(text))
            return
        half = len(places) // 2
        middle = places[half][0]
        rest = [(start - middle, end - middle) for start, end in places[half:]]
        self._add_within(gathered, text[:middle], places[:half])
        self._add_within(gathered, text[middle:], rest)


class _Gathered:
    """Pieces of words that stand one after the other, and the rows of words that they became."""

    def __init__(self, columns: int) -> None:
        self._rows = [np.zeros((0, columns), np.float32)]
        self._begin()

    def _begin(self) -> None:
        self._numbers: list[Floats] = []
        self._offsets: list[np.ndarray[tuple[int, int], np.dtype[np.int64]]] = []
        self._places: list[Place] = []
        self._pieces = self._at = 0

    def add(
        self,
        numbers: Floats,
        offsets: np.ndarray[tuple[int, int], np.dtype[np.int32]],
        places: Sequence[Place],
        length: int,
    ) -> None:
        at = self._at
        self._numbers.append(numbers)
        self._offsets.append(offsets + np.int64(at))
        self._places += [(start + at, end + at) for start, end in places]
        self._pieces += len(numbers)
        self._at += length + 1
        if self._pieces >= _MOST_PIECES:
            self._make_words()

    def rows(self) -> Floats:
        self._make_words()
        return np.concatenate(self._rows) if len(self._rows) > 2 else self._rows[-1]

    def _make_words(self) -> None:
        if self._places:
            pieces, offsets = np.concatenate(self._numbers), np.concatenate(self._offsets)
            self._rows.append(of_words(pieces, offsets, self._places))
        self._begin()


def _windows(text: str, spans: Sequence[Place]) -> Iterator[Place]:
    """Yield the stretches of a long text: it is cut where its sentences begin."""
    cuts = sorted({0, *(start for start, _ in spans), len(text)})
    yield from pairwise(cuts)
