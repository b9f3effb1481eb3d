"""Arrays that grow at their end: columns, rows that may be mapped from a file, and texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# How much larger an array is made than needed: each row is copied a few times at most.
_GROWTH = 1.25
# With so few gaps, the stretches between them are long.
_FEW = 1_000


def select_prefix(columns: Mapping[str, Array], name: str) -> dict[str, Array]:
    """Return the columns that `add_prefix` named for a part, under their own names."""
    start = f"{name}."
    return {
        key.removeprefix(start): values for key, values in columns.items() if key.startswith(start)
    }


def add_prefix(name: str, columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns under names with that of their part in front."""
    return {f"{name}.{key}": values for key, values in columns.items()}


class GrowableArray:
    """An array to whose end values are added. With several dimensions it grows along the last."""

    def __init__(self, values: Array) -> None:
        self._held = values
        self._count = values.shape[-1]

    @property
    def values(self) -> Array:
        """The values, as a view that is valid until the next `extend`."""
        return self._held[..., : self._count]

    def extend(self, more: Array) -> None:
        """Add values; a column of texts gets as wide as the widest."""
        needed = self._count + more.shape[-1]
        wide = np.promote_types(self._held.dtype, more.dtype)
        if needed > self._held.shape[-1] or wide != self._held.dtype:
            room = np.empty((*more.shape[:-1], max(int(needed * _GROWTH), 64)), wide)
            room[..., : self._count] = self.values
            self._held = room
        self._held[..., self._count : needed] = more
        self._count = needed

    def replace(self, values: Array) -> None:
        """Replace all values."""
        self._held = values
        self._count = values.shape[-1]

    def keep(self, kept: Array) -> None:
        """Keep only the values that a mask marks."""
        self.replace(delete_at(self.values, np.flatnonzero(~kept)))


class GrowableRows:
    """Rows of many values that grow at their end; mapped rows stay on disk until they are read.

    `type` is that of the values, and `width` how many a row has. Rows that are removed stay where
    they are in the array; `row_positions` has the positions of those that are left, None: all are.
    """

    def __init__(
        self,
        held: Array | None,
        type: type[np.generic],
        width: int,
        row_positions: Array | None = None,
    ) -> None:
        self._held = np.zeros((0, width), type) if held is None else held
        self._flat = GrowableArray(np.zeros(0, type))
        self._positions = None if row_positions is None else GrowableArray(row_positions)
        #: The positions of rows that were removed since.
        self.removed: Array = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.row_positions)

    @property
    def row_positions(self) -> Array:
        """The position of each row."""
        if self._positions is None:
            return np.arange(len(self._held) + len(self._added), dtype=np.int32)
        return self._positions.values

    @property
    def values(self) -> Array:
        """All rows; copied where some were added or removed."""
        added = self._added
        if self._positions is not None:
            return self.take(np.arange(len(self)))
        if not len(self._held):
            return added
        return np.concatenate((self._held, added)) if len(added) else self._held

    def extend(self, more: Array) -> None:
        """Add rows."""
        if self._positions is not None:
            first = len(self._held) + len(self._added)
            self._positions.extend(np.arange(first, first + len(more), dtype=np.int32))
        self._flat.extend(more.reshape(-1))

    def keep(self, kept: Array) -> None:
        """Keep only the rows that a mask marks."""
        if kept.all():
            return
        row_positions = self.row_positions
        gone = np.flatnonzero(~kept)
        self.removed = np.concatenate((self.removed, row_positions[gone]))
        self._positions = GrowableArray(delete_at(row_positions, gone))

    def take(self, rows: Array) -> Array:
        """Return some rows, in order."""
        found: Array
        if self._positions is not None:
            rows = self._positions.values[rows]
        first, added = len(self._held), self._added
        if not first or not len(added):
            found = (added if len(added) else self._held).take(rows, axis=0)
            return found
        new = rows >= first
        found = self._held.take(np.where(new, 0, rows), axis=0)
        found[new] = added[rows[new] - first]
        return found

    @property
    def _added(self) -> Array:
        flat, width = self._flat.values, self._held.shape[1]
        # Without an encoder it is 0.
        return flat.reshape(len(flat) // max(width, 1), width)


class SparseAccumulator:
    """Sums of values for some of many rows, at the cost of those rows alone.

    A sparse accumulator (Gilbert, Moler and Schreiber, 1992), all zeros between uses.
    """

    def __init__(self) -> None:
        self._values = np.zeros(0, np.float32)

    def add_up(self, parts: Iterable[tuple[Array, Array]], count: int) -> tuple[Array, Array]:
        """Return the rows, of `count`, that any part has, each once, and the sums of their values.

        A part is (rows, values): each row once, and each value more than 0.
        """
        if len(self._values) < count:
            self._values = np.zeros(count, np.float32)
        # If this is interrupted, an array that is not all zeros is not used again.
        values, self._values = self._values, np.zeros(0, np.float32)
        reached = [np.zeros(0, np.int64)]
        for rows, gains in parts:
            before = values[rows]
            values[rows] = before + gains
            reached.append(rows[before == 0])
        found = np.concatenate(reached)
        sums = values[found]
        values[found] = 0
        self._values = values
        return found, sums


def distinct(values: Array) -> Array:
    """Return each value once, ascending; for a few thousand, faster than `np.unique`."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def distinct_with_first(values: Array) -> tuple[Array, Array]:
    """Return each value once, ascending, and where it stands first; `np.unique` loads more."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first], order[first]


def nonzero(mask: Array) -> Array:
    """Return where a mask is true; if that is in few places, faster than `np.flatnonzero`."""
    eights = len(mask) // 8
    # Eight at a time: a word is zero where none of its bytes is one.
    words = np.flatnonzero(mask[: 8 * eights].view(np.uint64))
    if 8 * len(words) > eights:
        return np.flatnonzero(mask)
    places = (8 * words[:, None] + np.arange(8)).ravel()
    rest = np.arange(8 * eights, len(mask))
    found: Array = np.concatenate((places, rest))
    return found[mask[found]]


def delete_at(values: Array, gone: Array) -> Array:
    """Return values without those at some places, ascending, along the last axis.

    Where few are removed, the stretches between them are copied: four times as fast as a mask.
    """
    if len(gone) > _FEW:
        return np.delete(values, gone, axis=-1)
    starts, ends = [0, *(gone + 1).tolist()], [*gone.tolist(), values.shape[-1]]
    between = [values[..., start:end] for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(between, axis=-1)


def concat_ranges(starts: Array, counts: Array) -> Array:
    """Return start, start + 1, ... of each range, `counts` of them, one range after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    values: Array = np.arange(total) + np.repeat(starts - (ends - counts), counts)
    return values


class Texts(Sequence[str]):
    """Short texts without a NUL at their end, such as ids, as UTF-8 in one array."""

    def __init__(self, values: Array | None = None) -> None:
        self.column = GrowableArray(np.zeros(0, "S1") if values is None else values)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts."""
        encoded = [text.encode() for text in texts]
        if encoded:
            self.column.extend(np.array(encoded, "S"))

    def keep(self, kept: Array) -> None:
        """Keep only the values that a mask marks."""
        self.column.keep(kept)

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
