"""Normalised names for exact comparison, never for similarity."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_POSSESSIVE = ("'s", "’s")
_KEPT_AT_END = "+#"  # C++ is not C#
# Default ignorable code points, which no font shows: zero-width, soft hyphens, selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
_SPACE = re.compile(r"[^\S\n\r\v\f\t\x1c-\x1f\x85\u2028\u2029 ]")
_SPACING = re.compile("[-' .]")
_SAME_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bb\u02bc\u2032\u00b4`\uff07", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    }
)


def plain_marks(text: str) -> str:
    """Return text in NFKC, with one kind of apostrophe, hyphen and space, and nothing invisible."""
    if text.isascii():
        # A fast path: NFKC keeps ASCII, and the backtick is the only one of these characters in it.
        return " ".join(text.replace("`", "'").split())
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text.translate(_SAME_MARKS)))
    return " ".join(unicodedata.normalize("NFKC", visible.translate(_SAME_MARKS)).split())


def same_length_marks(text: str) -> str:
    """Return text of the same length with one kind of apostrophe, hyphen and space.

    Invisible characters become spaces; line breaks are kept.
    """
    if text.isascii():
        return text
    text = _INVISIBLE.sub(lambda found: " " * len(found[0]), text.translate(_SAME_MARKS))
    return _SPACE.sub(" ", text)


def same_letters(one: str, other: str) -> bool:
    """Return whether names differ at most in case, spaces, hyphens, apostrophes and full stops.

    True for "Jean-Luc" and "Jean Luc", false for "José" and "Jose".
    """
    return _letters(one) == _letters(other)


def without_hyphens(normalized: str) -> str:
    """Replace hyphens in a normalised name by spaces: "jean-luc" becomes "jean luc"."""
    return " ".join(normalized.replace("-", " ").split())


def _letters(name: str) -> str:
    return _SPACING.sub("", normalise_name(name))


@lru_cache(maxsize=1_024)
def normalise_name(name: str) -> str:
    """Return the normalised form of a name, for exact comparison.

    It ignores case, compatibility forms, the kind of white space, hyphen or apostrophe, invisible
    characters, punctuation at the ends, full stops before a space, and a possessive 's. Letters,
    accents, digits and hyphens are kept: "Iran" and "Tigran", "Room 101" and "Room 102", "José" and
    "Jose" are different names. For names that differ only in hyphens or accents, both ingestion and
    `entities compare` use `compare_names`.
    """
    key = plain_marks(plain_marks(name).casefold())
    key = " ".join(key.replace(". ", " ").split())
    return _trim(key) or key


def _trim(key: str) -> str:
    start, end = 0, len(key)
    while start < end and not key[start].isalnum():
        start += 1
    while end > start:
        if key.endswith(_POSSESSIVE, start, end) and end - start > 2:
            end -= 2
        elif key[end - 1].isalnum() or key[end - 1] in _KEPT_AT_END or _is_mark(key[end - 1]):
            break
        else:
            end -= 1
    return key[start:end]


def _is_mark(character: str) -> bool:
    """Return whether a character is a combining mark, which belongs to the letter before it."""
    return unicodedata.category(character)[0] == "M"
