"""Conservative token counts of texts, for any model that may read them.

Words are estimated: as word pieces of the home's encoder, or from their number of letters. For
everything else the count is an upper bound, measured with OpenAI's o200k and cl100k on random text:
each byte of a non-ASCII character may be a token, and so may each letter of a random string.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import ceil

from recollect.home.open_zone import OpenZone
from recollect.schemas.errors import InvalidInput

Count = Callable[[str], int]

#: The maximum of `max_tokens` in all operations.
MAX_TOKENS = 100_000

# Tokenizers first split a text into runs of letters and of digits. A space before a word is part of
# the word's token. A space before a number is a token of its own: `estimate_tokens` is high enough
# to include it, and the encoder's counter adds it.
_PIECE = re.compile(
    r"[A-Za-z]+(?![0-9]) ?| ?[A-Za-z0-9]*[0-9][A-Za-z0-9]*|[^\S ]| {2,}|\S",
)
_BLANK_BEFORE_NUMBER = re.compile(r"(?<=[A-Za-z]) (?=[0-9])")
_RUN = re.compile(r"[A-Za-z]+|[0-9]+| ")
# Word-piece tokenizers ignore case, and map an overlong word to one unknown token.
_WORD = re.compile(r"[A-Z]?[a-z]{1,20}|[A-Z]")
_LETTERS_PER_TOKEN = _DIGITS_PER_TOKEN = 3
# Characters that take fewer tokens than bytes: first, last, and tokens per character.
_CHEAPER = (
    ("\u0391", "\u03c9", 1.75),  # Greek
    ("\u0410", "\u044f", 1.25),  # Cyrillic
    ("\u05d0", "\u05ea", 1.75),  # Hebrew
    ("\u0620", "\u064a", 1.5),  # Arabic
    ("\u0905", "\u0939", 2.0),  # Devanagari
    ("\u0e01", "\u0e4d", 1.5),  # Thai
    ("\u3041", "\u30fa", 1.75),  # Kana
    ("\u4e00", "\u9fff", 2.5),  # Han
)


def check_max_tokens(max_tokens: int) -> None:
    """Raise InvalidInput unless a `max_tokens` is from 1 to MAX_TOKENS."""
    is_number = isinstance(max_tokens, int) and not isinstance(max_tokens, bool)
    if not is_number or not 1 <= max_tokens <= MAX_TOKENS:
        raise InvalidInput(f"max_tokens is {max_tokens!r}; give 1 to {MAX_TOKENS:,}")


def estimate_tokens(text: str) -> int:
    """Return a conservative estimate, which common tokenizers hardly ever exceed."""
    words, others = _split(text)
    return others + sum(ceil(len(word) / _LETTERS_PER_TOKEN) for word in words)


def token_counter(zone: OpenZone) -> Count:
    """Return the home's token counter: its encoder's tokenizer, or else `estimate_tokens`."""
    gateway = zone.node.gateway
    if gateway.model is None:
        return estimate_tokens

    def count(text: str) -> int:
        words, others = _split(text)
        blanks = len(_BLANK_BEFORE_NUMBER.findall(text))
        return others + blanks + gateway.count_tokens(" ".join(words))

    return count


def _split(text: str) -> tuple[list[str], int]:
    """Return the words of a text, and an upper bound on the tokens of the rest."""
    words: list[str] = []
    others = 0.0
    for piece in _PIECE.findall(text):
        if _WORD.fullmatch(bare := piece.rstrip(" ")):
            words.append(bare)
        else:
            others += _bound(bare or piece)
    return words, ceil(others)


def _bound(piece: str) -> float:
    if not piece.isascii():
        rates = (tokens for first, last, tokens in _CHEAPER if first <= piece <= last)
        return next(rates, len(piece.encode("utf-8", "replace")))
    if piece.isspace():
        return 1
    return sum(map(_run_bound, _RUN.findall(piece) or [piece]))


def _run_bound(run: str) -> int:
    if run.isdigit():
        return ceil(len(run) / _DIGITS_PER_TOKEN)
    # In random strings, some pairs of letters are one token if both have the same case, and hardly
    # any otherwise.
    return ceil(len(run) * 3 / 4) if run.islower() or run.isupper() else len(run)
