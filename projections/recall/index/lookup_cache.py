"""What was looked up of many, kept until the files change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """A look-up by keys that keeps what it found, of up to `most` keys."""

    def __init__(self, look_up: Callable[[list[K]], Mapping[K, V]], most: int) -> None:
        self._look_up = look_up
        self._most = most
        self._held: dict[K, V | None] = {}

    def of(self, keys: Iterable[K]) -> dict[K, V]:
        """Return what there is of some keys."""
        wanted = dict.fromkeys(keys)
        new = [key for key in wanted if key not in self._held]
        if new:
            if len(self._held) + len(new) > self._most:
                self._held.clear()
                new = list(wanted)
            found = self._look_up(new)
            self._held |= {key: found.get(key) for key in new}
        held = self._held
        return {key: value for key in wanted if (value := held[key]) is not None}

    def clear(self) -> None:
        """Look everything up again."""
        self._held.clear()
