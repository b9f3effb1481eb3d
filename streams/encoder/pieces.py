"""Cutting a text into the word pieces that a model reads, whatever the text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from recollect.streams.encoder.encoder_errors import EncoderUnsupported

_SURROGATE = re.compile("[\ud800-\udfff]")
# English takes 4 to 5 characters a piece; texts that need more are read further.
_CHARACTERS_PER_PIECE = 8


class Pieces(NamedTuple):
    """A text as the model reads it: `ids` (1, head + t + tail) int32, and where it stands.

    `offsets`: (t, 2) int32, characters of the text. `head`: how many special pieces come first.
    `whole`: nothing was cut off.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    head: int
    whole: bool


def vocabulary_size(tokenizer: Path) -> int:
    """Return one more than the highest id a tokenizer gives; EncoderUnsupported if unreadable."""
    try:
        vocabulary = Tokenizer.from_file(str(tokenizer)).get_vocab()
    except Exception as error:
        # The library raises nothing more particular.
        raise EncoderUnsupported(f"{tokenizer.name} cannot be read: {error}") from error
    return max(vocabulary.values(), default=-1) + 1


class PieceCutter:
    """Turns texts into word pieces, cut off at `max_length` with the special ones included."""

    def __init__(self, tokenizer: Path, max_length: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        # The file may bring a length and a padding of its own.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        framed = self._tokenizer.encode("a")
        own = [place for place, special in enumerate(framed.special_tokens_mask) if not special]
        self._head = framed.ids[: own[0]]
        self._tail = framed.ids[own[-1] + 1 :]
        self._limit = max_length - len(self._head) - len(self._tail)
        added = self._tokenizer.get_added_tokens_decoder().values()
        self._longest_added = max((len(token.content) for token in added), default=0)

    def cut(self, text: str) -> Pieces:
        """Return the pieces of a text of any length; a lone surrogate counts as U+FFFD."""
        found = self._read(_SURROGATE.sub("\ufffd", text))
        ids = np.array([[*self._head, *found.ids[: self._limit], *self._tail]], dtype=np.int32)
        offsets = np.array(found.offsets[: self._limit], dtype=np.int32).reshape(-1, 2)
        return Pieces(ids, offsets, len(self._head), len(found) <= self._limit)

    def count(self, text: str) -> int:
        """Return how many pieces all of a text has, the special ones not included."""
        text = _SURROGATE.sub("\ufffd", text)
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def _read(self, text: str) -> Encoding:
        """Read no more of the text than fills the model; the pieces are those of the whole."""
        length = _CHARACTERS_PER_PIECE * self._limit
        while length < len(text):
            found = self._tokenizer.encode(text[:length], add_special_tokens=False)
            if self._is_settled(found, length):
                return found
            length *= 4
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _is_settled(self, found: Encoding, length: int) -> bool:
        """Whether the pieces that count would be the same if the text went on after `length`.

        The last word may go on, and so may a special token written out in the text; all that
        stands before both is final.
        """
        if len(found) <= self._limit:
            return False
        last = self._limit - 1
        return (
            found.word_ids[last] != found.word_ids[-1]
            and found.offsets[last][1] + self._longest_added <= length
        )
