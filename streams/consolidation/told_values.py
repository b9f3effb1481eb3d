"""Values of attributes in the words of a fact: "Ada's bakery" if the message has "my bakery"."""

from __future__ import annotations

import re

_OWN = re.compile(r"\b(?:my|our)\b", re.IGNORECASE)


def told_value(value: str, text: str, name: str) -> str:
    """Return a value in the words of a fact about `name`, if the value says "my" or "our".

    >>> told_value("my bakery", "Ada runs Ada's bakery.", "Ada")
    "Ada's bakery"
    """
    parts = _OWN.split(value)
    if len(parts) == 1:
        return value
    names = "|".join(map(re.escape, {name, *name.split()[:1]}))
    owner = rf"(?:(?:{names})['’]s?|their|his|her)"
    found = re.search(owner.join(map(re.escape, parts)), text)
    return found[0] if found else value
