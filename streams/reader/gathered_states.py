"""Gathering the states of the words of several texts, for the heads to score together."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from recollect.streams.encoder.encoder import HiddenStates
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from recollect.streams.reader.head_file import HeadFile
from recollect.streams.reader.words.cut_texts import CutTexts
from recollect.streams.reader.words.word_cutter import Place
from recollect.streams.reader.words.word_states import WholeNumbers, of_words, whole_numbers

# Rows to allocate: more than a batch has, except for long texts. Untouched memory costs nothing.
_KEPT = 4_096


class StateGatherer:
    """Collects word states as integers: texts one after the other, layers side by side."""

    def __init__(self, encoder: OnnxEncoder, heads: HeadFile, layers: Sequence[int]) -> None:
        self._encoder = encoder
        self._middles = {layer: heads.middles[layer].array() for layer in layers}
        scales = [heads.scales[layer].array() for layer in layers]
        self._scale = np.concatenate([np.zeros(0, np.float32), *scales])
        self._pieces, self._words = _Rows(len(self._scale)), _Rows(len(self._scale))

    def of_texts(self, cut: CutTexts, states: Iterable[HiddenStates]) -> WholeNumbers:
        """Return the (words, columns) states of the words of several texts.

        The array is valid until this thread calls again.
        """
        # Most words are one piece.
        pieces = _Pieces(self._pieces.of(len(cut.places) * 5 // 4))
        starts, ends = cut.places[:, 0], cut.places[:, 1].copy()
        for number, (base, seen) in enumerate(zip(cut.bases, states, strict=True)):
            if seen.is_complete:
                self._add(pieces, seen, base)
                continue
            # A long text is encoded sentence by sentence.
            words = slice(cut.firsts[number], cut.firsts[number + 1])
            text = cut.texts[number]
            for left, right in _windows(text, cut.spans[number]):
                begin, end = words.start + np.searchsorted(
                    starts[words], [base + left, base + right]
                )
                # Of a word that extends beyond its window, only the part inside is seen.
                np.minimum(ends[begin:end], base + right, out=ends[begin:end])
                self._add_window(pieces, text[left:right], base + left, starts[begin:end])
        return of_words(*pieces.all(), starts, ends, out=self._words.of(len(starts)))

    def _add(self, pieces: _Pieces, states: HiddenStates, base: int) -> None:
        offsets = states.tokens.offsets
        numbers = np.empty((len(offsets), len(self._scale)), np.float32)
        at = 0
        for layer, middle in self._middles.items():
            found = states.inner.get(layer, states.tokens.vectors)
            np.subtract(found, middle, out=numbers[:, at : at + len(middle)])
            at += len(middle)
        whole_numbers(numbers, self._scale, out=pieces.room(len(offsets)))
        pieces.offsets.append(offsets)
        pieces.bases.append(base)

    def _add_window(
        self, pieces: _Pieces, text: str, base: int, starts: npt.NDArray[np.int64]
    ) -> None:
        """Add a window, halved until the encoder can take it whole."""
        if not len(starts):
            return
        states = self._encoder.hidden_states(text)
        if states.is_complete or len(starts) == 1:
            self._add(pieces, states, base)
            return
        half = len(starts) // 2
        middle = int(starts[half])
        self._add_window(pieces, text[: middle - base], base, starts[:half])
        self._add_window(pieces, text[middle - base :], middle, starts[half:])


class _Rows(threading.local):
    """Buffers that a thread reuses: allocating them costs as much as the work that they are for."""

    def __init__(self, columns: int) -> None:
        self._rows = np.empty((_KEPT, columns), np.int8)

    def of(self, count: int) -> WholeNumbers:
        """Return `count` rows."""
        if count > len(self._rows):
            return np.empty((count, self._rows.shape[1]), np.int8)
        return self._rows[:count]


class _Pieces:
    """The word pieces of several windows, one after the other, with their character offsets."""

    def __init__(self, rows: WholeNumbers) -> None:
        """`rows`: the initial capacity, which may be too small."""
        self._numbers = rows
        self._count = 0
        self.offsets = [np.zeros((0, 2), np.int32)]
        self.bases = [0]

    def room(self, count: int) -> WholeNumbers:
        """Return rows for `count` more pieces."""
        start, self._count = self._count, self._count + count
        if self._count > len(self._numbers):
            more = np.empty((2 * self._count, self._numbers.shape[1]), np.int8)
            more[:start] = self._numbers[:start]
            self._numbers = more
        return self._numbers[start : self._count]

    def all(self) -> tuple[WholeNumbers, npt.NDArray[np.int64]]:
        offsets = np.concatenate(self.offsets, dtype=np.int64)
        offsets += np.repeat(self.bases, list(map(len, self.offsets)))[:, None]
        return self._numbers[: self._count], offsets


def _windows(text: str, spans: Sequence[Place]) -> Iterable[Place]:
    """Return the stretches of a long text, split at the beginnings of sentences."""
    return pairwise(sorted({0, *(start for start, _ in spans), len(text)}))
