"""Nicknames: other first names by which somebody may be known, and titles before a name.

The table comes from the library `nicknames` (English given names and their hypocorisms).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from recollect.text.lexicon import HONORIFICS, word_set
from recollect.text.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from nicknames import NickNamer


# Words that begin questions and are nobody's name: for most of them the table is not needed.
_NO_NAMES = STOP_WORDS - {"will", "than"}

# Forms of address that precede a name in a list of contacts.
_TITLES = sorted(
    HONORIFICS
    | word_set(
        """mom mum mama maman mummy mommy mother dad papa daddy father nana nan nanna granny gran
        grandmother grandfather gramps oma opa abuela abuelo mamie papy nonna nonno tante onkel
        tia tio tata cousin sister brother coach"""
    )
)


@lru_cache(1_024)
def other_names(normalized: str) -> tuple[str, ...]:
    """Return a normalised name with other first names: its nicknames, or what they stand for."""
    first, _, rest = normalized.partition(" ")
    if first in _NO_NAMES:
        return ()
    names = _table().nicknames_of(first) | _table().canonicals_of(first)
    return tuple(f"{name} {rest}".strip() for name in sorted(names - {first}))


@lru_cache(1_024)
def canonical_names(first: str) -> tuple[str, ...]:
    """Return the full forms of a normalised nickname: Robert for Bob."""
    return () if first in _NO_NAMES else tuple(sorted(_table().canonicals_of(first)))


def is_title(word: str) -> bool:
    """Return whether a normalised word is a form of address or a title: maman, mr, coach."""
    return word in _TITLES


def with_titles(normalized: str) -> tuple[str, ...]:
    """Return a normalised one-word name after each title: for Solange, "maman solange"."""
    if " " in normalized or normalized in _NO_NAMES:
        return ()
    return tuple(f"{title} {normalized}" for title in _TITLES)


@cache
def _table() -> NickNamer:
    # Loading takes 50 ms, when a question first names somebody whom the zone does not know.
    from nicknames import NickNamer

    return NickNamer()
