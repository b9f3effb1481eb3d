"""Normalised names for exact comparison, never for similarity."""

from __future__ import annotations

import unicodedata

_POSSESSIVE = ("'s", "’s")
_KEPT_AT_END = "+#"  # C++ is not C#


def normalise_name(name: str) -> str:
    """Return the normalised form of a name, for exact comparison.

    Ignored are case, compatibility forms, white space, punctuation at the ends, full stops before a
    space, and a possessive 's. Letters, accents, digits and inner hyphens are kept: "Iran" and
    "Tigran", "Room 101" and "Room 102", "José" and "Jose" are different names.
    """
    key = unicodedata.normalize("NFKC", name).casefold()
    key = " ".join(unicodedata.normalize("NFKC", key).replace("’", "'").split())
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
