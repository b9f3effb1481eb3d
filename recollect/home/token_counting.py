"""Token counts of texts: word pieces of the home's encoder, or an estimate without one."""

from __future__ import annotations

import re
from collections.abc import Callable

from recollect.home.open_zone import OpenZone

Count = Callable[[str], int]

#: The maximum of `max_tokens` in all operations.
MAX_TOKENS = 100_000
# A lower bound of one token per this many bytes: word-piece tokenizers map an overlong word to one
# unknown token, where a language model's tokenizer needs many.
_BYTES_PER_TOKEN = 8

# A run of letters and digits, or any other non-blank character.
_PIECE = re.compile(r"[A-Za-z0-9]+|\S")
_LETTERS_PER_TOKEN = 3


def token_bound(text: str) -> int:
    """Return a conservative estimate, which common tokenizers do not exceed by much."""
    return sum(
        -(-len(piece) // _LETTERS_PER_TOKEN) if piece.isascii() else len(piece.encode())
        for piece in _PIECE.findall(text)
    )


def token_counter(zone: OpenZone) -> Count:
    """Return the home's token counter: its encoder's tokenizer, or `token_bound` without one."""
    gateway = zone.node.gateway
    if gateway.model is None:
        return token_bound
    return lambda text: max(gateway.count_tokens(text), -(-len(text.encode()) // _BYTES_PER_TOKEN))
