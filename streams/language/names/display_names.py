"""Names by which somebody may be addressed, derived from a platform's display name."""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.schemas.names import normalise_name
from recollect.streams.language.names.gazetteer import ORGANISATION_ENDINGS
from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.nicknames import is_title

# The last bracket may be missing: as punctuation at the end of a name, it is stripped.
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{2,40})(?:[)\]]|\Z)")
#: Words in brackets after a name that are not a name.
_NO_NAMES = FUNCTION_WORDS | word_set(
    """away work home office mobile cell busy afk brb external guest admin bot support private new
    old remote ooo vacation holiday sick retired team sales hr personal business via test former
    deleted deactivated pm am student teacher intern contractor manager owner host offline online"""
)
#: Words within a name that are written in lower case.
PARTICLES = word_set("de da di du van von der den bin al el la le y")
_INITIAL = re.compile(r"(?:\A|(?<=-))[^\W\d_]")


def names_in(display_name: str) -> tuple[str, ...]:
    """Return the names in a display name: "melodious (Mel)" contains melodious and Mel."""
    if "(" not in display_name and "[" not in display_name:
        return (display_name,)
    outer = " ".join(_IN_BRACKETS.sub(" ", display_name).split())
    inner = [" ".join(each.split()) for each in _IN_BRACKETS.findall(display_name)]
    named = [each for each in inner if _may_be_name(each)]
    return tuple(each for each in (outer, *named) if each) or (display_name,)


def in_capitals(name: str) -> str:
    """Return a name that is written in lower case with capitals: "ada de vries" is "Ada de Vries".

    The name of an account ("ada_99") stays as it is.
    """
    if not name.islower() or any(each.isdigit() or each == "_" for each in name):
        return name
    return " ".join(
        word if place and word in PARTICLES else _INITIAL.sub(lambda each: each[0].upper(), word)
        for place, word in enumerate(name.split(" "))
    )


@lru_cache(4_096)
def called(display_name: str) -> frozenset[str]:
    """Return the normalised names by which somebody with a display name may be called.

    An organisation is called only by its full name.
    """
    found = {normalise_name(display_name)}
    if not ORGANISATION_ENDINGS.isdisjoint(normalise_name(display_name).split()):
        return frozenset(found - {""})
    for name in names_in(display_name):
        words = normalise_name(name).split()
        found.add(" ".join(words))
        while len(words) > 1 and is_title(words[0]):
            del words[0]
        found |= {" ".join(words), words[0]} if words else set()
    return frozenset(found - {""})


def _may_be_name(inner: str) -> bool:
    words = normalise_name(inner).split()
    return bool(words) and "/" not in inner and inner[0].isalpha() and _NO_NAMES.isdisjoint(words)
