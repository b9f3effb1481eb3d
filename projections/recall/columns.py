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


class Wide:
    """Wide rows, at whose end rows are added; what was mapped stays on disk until it is asked for.

    `type` is a row's, and `width` how many values it has.
    """

    def __init__(self, held: Array | None, type: type[np.generic], width: int) -> None:
        self._held = np.zeros((0, width), type) if held is None else held
        self._came = Column(np.zeros((0, width), type))

    def __len__(self) -> int:
        return len(self._held) + len(self._came.values)

    @property
    def values(self) -> Array:
        """All rows; copied where some came to those that were held."""
        came = self._came.values
        if not len(self._held):
            return came
        return np.concatenate((self._held, came)) if len(came) else self._held

    def extend(self, more: Array) -> None:
        """Add rows."""
        self._came.extend(more)

    def take(self, rows: Array) -> Array:
        """Return some rows, in order."""
        found: Array
        first, came = len(self._held), self._came.values
        if not first or not len(came):
            found = (came if len(came) else self._held).take(rows, axis=0)
            return found
        new = rows >= first
        found = self._held.take(np.where(new, 0, rows), axis=0)
        found[new] = came[rows[new] - first]
        return found


def distinct(values: Array) -> Array:
    """Return each value once, ascending; of a few thousand, quicker than `np.unique`."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def ranges(starts: Array, counts: Array) -> Array:
    """Return start, start + 1, ... of each range, `counts` of them, one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    values: Array = np.arange(total) + np.repeat(starts - (ends - counts), counts)
    return values


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
        found: list[bytes] = self.column.values[rows].tolist()
        # Decoded at once: no text has a NUL.
        return b"\0".join(found).decode().split("\0") if found else []

    def __len__(self) -> int:
        return len(self.column.values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [text.decode() for text in self.column.values[index].tolist()]
        return bytes(self.column.values[index]).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])
