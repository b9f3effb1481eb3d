"""What somebody may be called by, from the name that a platform shows."""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.schemas.names import normalise_name
from recollect.streams.language.names.gazetteer import ORGANISATION_ENDINGS
from recollect.text.lexicon import FUNCTION_WORDS, word_set
from recollect.text.nicknames import is_title

# The last bracket may be lost: it is punctuation at the end of a name.
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{2,40})(?:[)\]]|\Z)")
#: What stands in brackets behind a name, and is none.
_NO_NAMES = FUNCTION_WORDS | word_set(
    """away work home office mobile cell busy afk brb external guest admin bot support private new
    old remote ooo vacation holiday sick retired team sales hr personal business via test former
    deleted deactivated pm am student teacher intern contractor manager owner host offline online"""
)


def names_in(display_name: str) -> tuple[str, ...]:
    """Return the names that a display name has in it: "melodious (Mel)" is melodious, and Mel."""
    if "(" not in display_name and "[" not in display_name:
        return (display_name,)
    outer = " ".join(_IN_BRACKETS.sub(" ", display_name).split())
    inner = [" ".join(each.split()) for each in _IN_BRACKETS.findall(display_name)]
    named = [each for each in inner if _may_be_name(each)]
    return tuple(each for each in (outer, *named) if each) or (display_name,)


@lru_cache(4_096)
def called(display_name: str) -> frozenset[str]:
    """Return by which normalised names somebody with a display name may be called.

    An organisation is called by its whole name alone.
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
