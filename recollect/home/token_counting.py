"""How many tokens a text takes: word pieces of the home's encoder, or an estimate without one."""

from __future__ import annotations

import re
from collections.abc import Callable

from recollect.home.open_zone import OpenZone

Count = Callable[[str], int]

#: The most that may be asked for.
MAX_TOKENS = 100_000
#: A text takes at least a token for so many bytes: one endless word is no single piece to a reader.
_BYTES_A_TOKEN = 8

# A run of letters and digits, or anything else that is no blank.
_PIECE = re.compile(r"[A-Za-z0-9]+|\S")
# A word of so many letters is a token or less, without an encoder that could say.
_LETTERS_A_TOKEN = 3


def token_bound(text: str) -> int:
    """Return a number of tokens that no usual tokenizer exceeds by much: rather too many."""
    return sum(
        -(-len(piece) // _LETTERS_A_TOKEN) if piece.isascii() else len(piece.encode())
        for piece in _PIECE.findall(text)
    )


def counting(zone: OpenZone) -> Count:
    """Return what counts tokens in a home: word pieces of its encoder, where it has one."""
    gateway = zone.node.gateway
    if gateway.model is None:
        return token_bound
    return lambda text: max(gateway.count_tokens(text), -(-len(text.encode()) // _BYTES_A_TOKEN))
