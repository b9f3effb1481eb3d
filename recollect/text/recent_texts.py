"""Texts that were read just now: a message is cut for its dates, its names and its sentences."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Rest = TypeVarTuple("Rest")

# A text that is longer is read anew each time, so that little is kept of what was said.
_SHORT = 4_096
_MOST = 8


def cached_for_short(read: Callable[[str, *Rest], T]) -> Callable[[str, *Rest], T]:
    """Return a function that reads a short text once while it is among the last few.

    Further arguments must be hashable. What it returns is given to several: nobody may change it.
    """
    cached = lru_cache(maxsize=_MOST)(read)

    @wraps(read)
    def recent(text: str, /, *rest: *Rest) -> T:
        return cached(text, *rest) if len(text) <= _SHORT else read(text, *rest)

    return recent
