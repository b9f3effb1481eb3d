"""Splitting a text into the words that heads see, as the Penn Treebank does."""

from __future__ import annotations

import re

#: The version of the splitting: a recorded reading refers to words by number.
CUT = 1

# "don't" is "do" and "n't", "she's" is "she" and "'s"; hyphens are separate, as are other marks,
# and a run of the same mark is one. No alternative backtracks over a long stretch.
_WORD = re.compile(
    r"(?:https?://|www\.)\S+"
    r"|[@#]\w+"
    r"|(?<=\w)n['’]t\b"
    r"|(?<=\w)['’](?:s|m|d|ll|re|ve)\b"
    r"|\d+(?:[.,:/]\d+)*"
    r"|(?:[^\W\d_]\.){2,20}"
    r"|\w+?(?=n['’]t\b)"
    r"|\w+"
    r"|([^\w\s])\1*",
    re.IGNORECASE,
)

Place = tuple[int, int]


def words_of(text: str) -> list[Place]:
    """Return the bounds of each word or mark of a text, in characters."""
    return [found.span() for found in _WORD.finditer(text)]


def is_word(word: str) -> bool:
    """Whether it is a word and not punctuation."""
    return word[0].isalnum() or word[-1].isalnum()
