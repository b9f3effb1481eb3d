"""Names as they are compared: whole, folded, and never by likeness."""

from __future__ import annotations

import re
import unicodedata

_SPACE = re.compile(r"\s+")
_POSSESSIVE = re.compile(r"(?:['’]s|s['’]|['’])$", re.IGNORECASE)
_EDGES = ' \t\n\r.,;:!?"“”„«»()[]{}<>*_~`'


def normalise_name(name: str) -> str:
    """Return a name as the entity store keeps it.

    Case, compatibility forms (NFKC), white space, punctuation at the edges and a possessive
    ending are folded; letters stay what they are, so "Iran" and "Tigran", "Room 101" and
    "Room 102", "José" and "Jose" are different names.
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    folded = _SPACE.sub(" ", folded).strip(_EDGES)
    shorter = _POSSESSIVE.sub(lambda found: "s" if found[0][0] == "s" else "", folded)
    return (shorter if len(shorter) > 1 else folded).strip(_EDGES)
