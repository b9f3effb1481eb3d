"""Cutting a text into the words that heads read, as the Penn Treebank cuts them."""

from __future__ import annotations

import re

#: What changes with the cut: a recorded reading names words by their number.
CUT = 1

# "don't" is "do" and "n't", "she's" is "she" and "'s"; hyphens stand alone, as do other marks, of
# which a run of the same is one. No alternative goes back over a long stretch twice.
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
    """Return where each word or mark of a text begins and ends, in characters."""
    return [found.span() for found in _WORD.finditer(text)]


def is_told(word: str) -> bool:
    """Whether a word is no mark."""
    return word[0].isalnum() or word[-1].isalnum()
