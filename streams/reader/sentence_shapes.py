"""What a head is told of a sentence beside the encoder's vectors: signs and a few small words."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: How many features a sentence has.
FEATURES = 24

_DIGIT = re.compile(r"\d")
_CODE = re.compile(r"[{}<>=`|]")
_I = frozenset({"i", "me", "my", "mine", "myself"})
_WE = frozenset({"we", "us", "our", "ours"})
_YOU = frozenset({"you", "your", "yours"})
_THEY = frozenset({"he", "she", "him", "her", "his", "they", "them", "their"})
_ASKING = frozenset({"what", "who", "whom", "which", "where", "when", "why", "how"})
_PLEASE = frozenset({"please", "let's", "help"})
_VERBS = frozenset({"VBD", "VBZ", "VBP", "MD"})


def sentence_shape(
    sentence: str, said: Sequence[str], tags: Sequence[str], *, named: bool
) -> list[bool]:
    """Return the FEATURES of a sentence; `named`: it has a name.

    `said`: its words in small letters, without marks, and `tags` their parts of speech.
    """
    there = set(said)
    body = sentence.rstrip("\"')]” ")
    first = said[0] if said else ""
    return [
        body.endswith("?"),
        body.endswith("!"),
        body.endswith("."),
        body.endswith((":", "…", "...")),
        _DIGIT.search(body) is not None,
        "\n" in body,
        "http" in body,
        _CODE.search(body) is not None,
        not there.isdisjoint(_I),
        first in _I,
        not there.isdisjoint(_WE),
        not there.isdisjoint(_YOU),
        not there.isdisjoint(_THEY),
        first in _ASKING,
        not there.isdisjoint(_PLEASE),
        bool(tags) and tags[0] in ("VB", "VBP") and first not in _I,
        bool(tags) and tags[0] in ("MD", "VBZ", "VBP", "VBD"),
        not _VERBS.isdisjoint(tags),
        named,
        len(said) < 3,
        3 <= len(said) < 6,
        6 <= len(said) < 15,
        len(said) >= 30,
        bool(tags) and "VBD" in tags,
    ]
