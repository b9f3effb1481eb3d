"""The words around a position in a text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from recollect.text.tokenizer import Tokens


def tokens_of(tokens: Tokens, start: int, end: int) -> tuple[int, int]:
    """Return the half-open range of the tokens that cover text from `start` to `end`.

    A stretch may begin with a character that belongs to no token, as "'66" does.
    """
    left = bisect_right(tokens.ends, start)
    return left, max(bisect_left(tokens.starts, end), left + 1)


def joined(tokens: Tokens, index: int) -> bool:
    """Whether only a little white space separates a word from the next."""
    if not 0 <= index < len(tokens.words) - 1:
        return False
    gap = tokens.gap(index)
    return len(gap) <= 4 and not gap.strip(" \t\n\r")


def word_at(tokens: Tokens, index: int) -> str:
    """The word at an index, in lower case; empty if there is none."""
    return tokens.lowers[index] if 0 <= index < len(tokens.lowers) else ""


def word_before(tokens: Tokens, index: int) -> str:
    """The preceding word of the same phrase."""
    return tokens.lowers[index - 1] if index > 0 and joined(tokens, index - 1) else ""
