"""Removal of a model's reasoning blocks from its answers."""

from __future__ import annotations

import re

_TAGS = "think|thinking|thought|reasoning"
_CLOSED = re.compile(rf"(?<!`)<({_TAGS})>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
# An answer truncated inside its reasoning, and one whose opening tag was part of the prompt.
_NEVER_CLOSED = re.compile(rf"\A\s*<(?:{_TAGS})>.*\Z", re.DOTALL | re.IGNORECASE)
_NEVER_OPENED = re.compile(rf"\A.*(?<!`)</(?:{_TAGS})>\s*", re.DOTALL | re.IGNORECASE)


def strip_reasoning(text: str) -> str:
    """Return an answer without its reasoning blocks.

    >>> strip_reasoning("<think>She means Turin.</think>In Turin.")
    'In Turin.'
    """
    without = _CLOSED.sub("", text)
    return _NEVER_OPENED.sub("", _NEVER_CLOSED.sub("", without))
