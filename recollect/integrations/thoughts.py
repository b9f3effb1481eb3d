"""What a model says, without what it thinks aloud: thoughts are no words to anybody."""

from __future__ import annotations

import re

_TAGS = "think|thinking|thought|reasoning"
_CLOSED = re.compile(rf"(?<!`)<({_TAGS})>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
# An answer that was cut off while the model thought, and one whose template wrote the first tag.
_NEVER_CLOSED = re.compile(rf"\A\s*<(?:{_TAGS})>.*\Z", re.DOTALL | re.IGNORECASE)
_NEVER_OPENED = re.compile(rf"\A.*(?<!`)</(?:{_TAGS})>\s*", re.DOTALL | re.IGNORECASE)


def spoken(text: str) -> str:
    """Return what is said in an answer, without the blocks in which the model thought.

    >>> spoken("<think>She means Turin.</think>In Turin.")
    'In Turin.'
    """
    without = _CLOSED.sub("", text)
    return _NEVER_OPENED.sub("", _NEVER_CLOSED.sub("", without))
