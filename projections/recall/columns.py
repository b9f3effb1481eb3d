"""Arrays that grow at their end, and text columns over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# Room that is left when an array is moved: each row is moved a few times at most.
_GROWTH = 1.25


class Column:
    """An array to whose end rows are added; `values` are those that are there."""

    def __init__(self, values: Array) -> None:
        self._held = values
        self._count = len(values)

    @property
    def values(self) -> Array:
        """The rows, as a view that the next `extend` may leave behind."""
        return self._held[: self._count]

    def extend(self, more: Array) -> None:
        """Add rows; text grows as wide as the widest."""
        needed = self._count + len(more)
        wide = np.promote_types(self._held.dtype, more.dtype)
        if needed > len(self._held) or wide != self._held.dtype:
            room = np.empty((max(int(needed * _GROWTH), 64), *more.shape[1:]), wide)
            room[: self._count] = self.values
            self._held = room
        self._held[self._count : needed] = more
        self._count = needed


class Texts(Sequence[str]):
    """Short texts without a NUL at their end, such as ids, as UTF-8 in one array."""

    def __init__(self, values: Array | None = None) -> None:
        self.column = Column(np.zeros(0, "S1") if values is None else values)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts."""
        encoded = [text.encode() for text in texts]
        if encoded:
            self.column.extend(np.array(encoded, "S"))

    def take(self, rows: Array) -> list[str]:
        """Return the texts of some rows, in order."""
        return [text.decode() for text in self.column.values[rows].tolist()]

    def __len__(self) -> int:
        return len(self.column.values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [text.decode() for text in self.column.values[index].tolist()]
        return bytes(self.column.values[index]).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])
