"""A cache of functions' results on recent texts, since a message is parsed several times."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
Rest = TypeVarTuple("Rest")

# Longer texts are parsed each time, so that little of what was said stays in memory.
_SHORT = 4_096
_MOST = 8


def cached_for_short(read: Callable[[str, *Rest], T]) -> Callable[[str, *Rest], T]:
    """Return `read` with a cache of its last few results for short texts.

    Further arguments must be hashable. Callers share a result, so they must not change it.
    """
    cached = lru_cache(maxsize=_MOST)(read)

    @wraps(read)
    def recent(text: str, /, *rest: *Rest) -> T:
        return cached(text, *rest) if len(text) <= _SHORT else read(text, *rest)

    return recent
