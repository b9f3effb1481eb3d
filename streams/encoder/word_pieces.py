"""Tokenising texts of any length into a model's word pieces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from recollect.streams.encoder.encoder_errors import EncoderUnsupported

_SURROGATE = re.compile("[\ud800-\udfff]")
# How long a prefix is tokenised first, per word piece. English has 4 to 5 characters per piece; if
# a text has more, the prefix is extended.
_CHARACTERS_PER_PIECE = 8


class TokenisedText(NamedTuple):
    """A tokenised text.

    `ids`: (1, n) int32, the t pieces of the text between special pieces. `offsets`: (t, 2) int32,
    the start and end of each piece in the text. `leading_specials`: the number of special pieces at
    the start. `is_complete`: the text was not truncated.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int32]
    leading_specials: int
    is_complete: bool


def vocabulary_size(tokenizer: Path) -> int:
    """Return a tokenizer's highest id plus one; raise EncoderUnsupported if it is unreadable."""
    try:
        vocabulary = Tokenizer.from_file(str(tokenizer)).get_vocab()
    except Exception as error:
        # The library raises plain Exception.
        raise EncoderUnsupported(f"{tokenizer.name} cannot be read: {error}") from error
    return max(vocabulary.values(), default=-1) + 1


class WordPieceTokeniser:
    """Tokenises texts, truncated to `max_length` word pieces, the special ones included."""

    def __init__(self, tokenizer: Path, max_length: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        # The file may set truncation and padding.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        framed = self._tokenizer.encode("a")
        not_special = [
            index for index, special in enumerate(framed.special_tokens_mask) if not special
        ]
        self._head = framed.ids[: not_special[0]]
        self._tail = framed.ids[not_special[-1] + 1 :]
        self._limit = max_length - len(self._head) - len(self._tail)
        added = self._tokenizer.get_added_tokens_decoder().values()
        self._longest_added = max((len(token.content) for token in added), default=0)

    def tokenise(self, text: str) -> TokenisedText:
        """Tokenise a text of any length; a lone surrogate counts as U+FFFD."""
        found = self._tokenise_prefix(_SURROGATE.sub("\ufffd", text))
        ids = np.array([[*self._head, *found.ids[: self._limit], *self._tail]], dtype=np.int32)
        offsets = np.array(found.offsets[: self._limit], dtype=np.int32).reshape(-1, 2)
        return TokenisedText(ids, offsets, len(self._head), len(found) <= self._limit)

    def count_tokens(self, text: str) -> int:
        """Return the number of pieces in a whole text, without the special ones."""
        text = _SURROGATE.sub("\ufffd", text)
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def _tokenise_prefix(self, text: str) -> Encoding:
        """Tokenise a prefix of a text that gives the same first pieces as the whole text."""
        length = _CHARACTERS_PER_PIECE * self._limit
        while length < len(text):
            found = self._tokenizer.encode(text[:length], add_special_tokens=False)
            if self._is_final(found, length):
                return found
            length *= 4
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _is_final(self, encoding: Encoding, length: int) -> bool:
        """Return whether the first `_limit` pieces are final, whatever text follows the prefix.

        `length`: the length of the prefix. Its last word or special token may continue in the text
        that follows; the pieces before that word or token are final.
        """
        if len(encoding) <= self._limit:
            return False
        last = self._limit - 1
        return (
            encoding.word_ids[last] != encoding.word_ids[-1]
            and encoding.offsets[last][1] + self._longest_added <= length
        )
