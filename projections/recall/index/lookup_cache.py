"""A cache for look-ups by key; the index clears it when the files change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LookupCache(Generic[K, V]):
    """A cache of the values of up to `max_keys` keys; keys without a value are cached too."""

    def __init__(self, look_up: Callable[[list[K]], Mapping[K, V]], max_keys: int) -> None:
        self._look_up = look_up
        self._max_keys = max_keys
        self._cached: dict[K, V | None] = {}

    def of(self, keys: Iterable[K]) -> dict[K, V]:
        """Return key -> value, for the keys that have one."""
        distinct = dict.fromkeys(keys)
        new = [key for key in distinct if key not in self._cached]
        if new:
            if len(self._cached) + len(new) > self._max_keys:
                self._cached.clear()
                new = list(distinct)
            looked_up = self._look_up(new)
            self._cached |= {key: looked_up.get(key) for key in new}
        cached = self._cached
        return {key: value for key in distinct if (value := cached[key]) is not None}

    def clear(self) -> None:
        """Empty the cache."""
        self._cached.clear()
