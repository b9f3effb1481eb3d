"""The words around a place in a text, and the numbers that they say."""

from __future__ import annotations

from recollect.text.lexicon import COUNTS, ORDINALS
from recollect.text.tokenizer import Tokens

DIGITS = frozenset("0123456789")


def joined(tokens: Tokens, index: int, allowed: str = "") -> bool:
    """Whether only a little white space (and `allowed`) stands between `index` and the next."""
    if not 0 <= index < len(tokens.words) - 1:
        return False
    gap = tokens.gap(index)
    return len(gap) <= 4 and not gap.strip(" \t\n\r" + allowed)


def word_at(tokens: Tokens, index: int) -> str:
    """The word at an index in small letters; empty where there is none."""
    return tokens.lowers[index] if 0 <= index < len(tokens.lowers) else ""


def word_before(tokens: Tokens, index: int) -> str:
    """The word just before, within the same phrase."""
    return tokens.lowers[index - 1] if index > 0 and joined(tokens, index - 1) else ""


def word_after(tokens: Tokens, index: int) -> str:
    """The word just after, within the same phrase."""
    return tokens.lowers[index + 1] if joined(tokens, index) else ""


def count_at(tokens: Tokens, index: int) -> int | None:
    """The number that token `index` says, up to 9999."""
    lower = word_at(tokens, index)
    if lower.isdecimal() and len(lower) <= 4:
        return int(lower)
    return COUNTS.get(lower)


def day_number(lower: str) -> int | None:
    """The day of a month: 3, 3rd, 21st."""
    digits = lower[:-2] if lower[-2:] in ("st", "nd", "rd", "th") else lower
    if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31:
        return int(digits)
    return None


def day_ordinal(lower: str) -> int:
    """The day of a month said as an ordinal (3rd, third), or 0."""
    if lower[-2:] in ("st", "nd", "rd", "th") and lower[:1] in DIGITS:
        return day_number(lower) or 0
    return ORDINALS.get(lower, 0)


def year_number(lower: str) -> int | None:
    """The year that four digits say, from 1000 to 2199."""
    if len(lower) == 4 and lower.isdecimal() and 1000 <= int(lower) <= 2199:
        return int(lower)
    return None
