"""Gathering the states of the words of several texts, which heads then see together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from streams.encoder.encoder import HiddenStates
from streams.encoder.onnx_encoder import OnnxEncoder
from streams.reader.cut_texts import CutTexts
from streams.reader.head_file import HeadFile
from streams.reader.word_cutter import Place
from streams.reader.word_states import WholeNumbers, of_words, whole_numbers


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

    def of_texts(self, cut: CutTexts, states: Iterable[HiddenStates]) -> WholeNumbers:
        """Return (words, columns) states of the words of texts, of which each has its states."""
        pieces = _Pieces(self._columns)
        starts, ends = cut.places[:, 0], cut.places[:, 1].copy()
        for number, (base, seen) in enumerate(zip(cut.bases, states, strict=True)):
            if seen.whole:
                self._add(pieces, seen, base)
                continue
            # A long text is read sentence by sentence.
            words = slice(cut.firsts[number], cut.firsts[number + 1])
            text = cut.texts[number]
            for left, right in _windows(text, cut.spans[number]):
                begin, end = words.start + np.searchsorted(
                    starts[words], [base + left, base + right]
                )
                # A word that runs on is seen as far as its window goes.
                np.minimum(ends[begin:end], base + right, out=ends[begin:end])
                self._add_window(pieces, text[left:right], base + left, starts[begin:end])
        return of_words(*pieces.all(), starts, ends)

    def _add(self, pieces: _Pieces, states: HiddenStates, base: int) -> None:
        numbers = np.empty((len(states.tokens.offsets), self._columns), np.int8)
        at = 0
        for layer, middle, scale in self._layers:
            found = states.inner.get(layer, states.tokens.vectors)
            whole_numbers(found, middle, scale, out=numbers[:, at : at + len(middle)])
            at += len(middle)
        pieces.add(numbers, states.tokens.offsets + np.int64(base))

    def _add_window(
        self, pieces: _Pieces, text: str, base: int, starts: npt.NDArray[np.int64]
    ) -> None:
        """Add a window, which is halved until the encoder sees it whole."""
        if not len(starts):
            return
        states = self._encoder.hidden_states(text)
        if states.whole or len(starts) == 1:
            self._add(pieces, states, base)
            return
        half = len(starts) // 2
        middle = int(starts[half])
        self._add_window(pieces, text[: middle - base], base, starts[:half])
        self._add_window(pieces, text[middle - base :], middle, starts[half:])


class _Pieces:
    """Pieces of words that stand one after the other, with their characters."""

    def __init__(self, columns: int) -> None:
        self._numbers = [np.zeros((0, columns), np.int8)]
        self._offsets = [np.zeros((0, 2), np.int64)]

    def add(self, numbers: WholeNumbers, offsets: npt.NDArray[np.int64]) -> None:
        self._numbers.append(numbers)
        self._offsets.append(offsets)

    def all(self) -> tuple[WholeNumbers, npt.NDArray[np.int64]]:
        return np.concatenate(self._numbers), np.concatenate(self._offsets)


def _windows(text: str, spans: Sequence[Place]) -> Iterable[Place]:
    """Return the stretches of a long text: it is cut where its sentences begin."""
    return pairwise(sorted({0, *(start for start, _ in spans), len(text)}))
