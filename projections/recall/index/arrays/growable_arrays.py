"""Arrays that grow at their end: columns, rows that may be memory-mapped, and texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# Over-allocation factor: each value is copied a few times at most.
_GROWTH = 1.25
# Up to this many deletions, copying the slices between them is faster than a mask.
_MAX_SLICED_DELETIONS = 1_000


def select_prefix(columns: Mapping[str, Array], name: str) -> dict[str, Array]:
    """Return the columns whose names begin with `name.`, without that prefix."""
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): values
        for key, values in columns.items()
        if key.startswith(prefix)
    }


def add_prefix(name: str, columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns with `name.` before their names."""
    return {f"{name}.{key}": values for key, values in columns.items()}


class GrowableArray:
    """An array that grows along its last dimension."""

    def __init__(self, values: Array) -> None:
        self._buffer = values
        self._count = values.shape[-1]

    @property
    def values(self) -> Array:
        """The values, as a view that is valid until the next `extend`."""
        return self._buffer[..., : self._count]

    def extend(self, more: Array) -> None:
        """Add values; a column of texts becomes as wide as its longest text."""
        needed = self._count + more.shape[-1]
        type_ = np.promote_types(self._buffer.dtype, more.dtype)
        if needed > self._buffer.shape[-1] or type_ != self._buffer.dtype:
            buffer = np.empty((*more.shape[:-1], max(int(needed * _GROWTH), 64)), type_)
            buffer[..., : self._count] = self.values
            self._buffer = buffer
        self._buffer[..., self._count : needed] = more
        self._count = needed

    def replace(self, values: Array) -> None:
        """Replace all values."""
        self._buffer = values
        self._count = values.shape[-1]

    def keep(self, kept: Array) -> None:
        """Keep only the values selected by a mask."""
        self.replace(delete_at(self.values, np.flatnonzero(~kept)))


class GrowableRows:
    """Rows of `width` values that grow at their end; mapped rows stay on disk until they are read.

    `stored`: (n, width), possibly mapped. Removing rows does not move the others. `row_positions`:
    the array positions of the remaining rows; None if no rows were removed.
    """

    def __init__(
        self,
        stored: Array | None,
        type: type[np.generic],
        width: int,
        row_positions: Array | None = None,
    ) -> None:
        self._stored = np.zeros((0, width), type) if stored is None else stored
        self._flat = GrowableArray(np.zeros(0, type))
        self._positions = None if row_positions is None else GrowableArray(row_positions)
        #: The positions of rows removed from this object.
        self.removed: Array = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.row_positions)

    @property
    def row_positions(self) -> Array:
        """The array position of each row."""
        if self._positions is None:
            return np.arange(len(self._stored) + len(self._added), dtype=np.int32)
        return self._positions.values

    @property
    def values(self) -> Array:
        """All rows; a copy if rows were added or removed."""
        added = self._added
        if self._positions is not None:
            return self.take(np.arange(len(self)))
        if not len(self._stored):
            return added
        return np.concatenate((self._stored, added)) if len(added) else self._stored

    def extend(self, more: Array) -> None:
        """Add rows."""
        if self._positions is not None:
            first = len(self._stored) + len(self._added)
            self._positions.extend(np.arange(first, first + len(more), dtype=np.int32))
        self._flat.extend(more.reshape(-1))

    def keep(self, kept: Array) -> None:
        """Keep only the rows selected by a mask."""
        if kept.all():
            return
        positions = self.row_positions
        removed = np.flatnonzero(~kept)
        self.removed = np.concatenate((self.removed, positions[removed]))
        self._positions = GrowableArray(delete_at(positions, removed))

    def take(self, rows: Array) -> Array:
        """Return some rows, in order."""
        taken: Array
        if self._positions is not None:
            rows = self._positions.values[rows]
        first, added = len(self._stored), self._added
        if not first or not len(added):
            taken = (added if len(added) else self._stored).take(rows, axis=0)
            return taken
        new = rows >= first
        taken = self._stored.take(np.where(new, 0, rows), axis=0)
        taken[new] = added[rows[new] - first]
        return taken

    @property
    def _added(self) -> Array:
        flat, width = self._flat.values, self._stored.shape[1]
        # The width is 0 without an encoder.
        return flat.reshape(len(flat) // max(width, 1), width)


class SparseAccumulator:
    """Sums sparse vectors in time proportional to their non-zero values.

    A sparse accumulator (Gilbert, Moler and Schreiber, 1992): a dense array that is all zeros
    between uses.
    """

    def __init__(self) -> None:
        self._values = np.zeros(0, np.float32)

    def add_up(self, parts: Iterable[tuple[Array, Array]], count: int) -> tuple[Array, Array]:
        """Return the distinct rows (below `count`) of all parts, and the sums of their values.

        A part is (rows, values), with distinct rows and positive values.
        """
        if len(self._values) < count:
            self._values = np.zeros(count, np.float32)
        # Detached while in use, so that an interrupt cannot leave non-zero values behind.
        values, self._values = self._values, np.zeros(0, np.float32)
        new_rows = [np.zeros(0, np.int64)]
        for rows, addends in parts:
            before = values[rows]
            values[rows] = before + addends
            new_rows.append(rows[before == 0])
        distinct = np.concatenate(new_rows)
        sums = values[distinct]
        values[distinct] = 0
        self._values = values
        return distinct, sums


def distinct(values: Array) -> Array:
    """Return the distinct values, ascending; faster than `np.unique` for a few thousand."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def distinct_with_first(values: Array) -> tuple[Array, Array]:
    """Return the distinct values, ascending, and the first index of each.

    `np.unique` would import more of NumPy.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first], order[first]


def nonzero(mask: Array) -> Array:
    """Return the indices at which a mask is true; faster than `np.flatnonzero` if they are few."""
    eights = len(mask) // 8
    # Eight values at a time: a 64-bit word is zero if none of its bytes is set.
    words = np.flatnonzero(mask[: 8 * eights].view(np.uint64))
    if 8 * len(words) > eights:
        return np.flatnonzero(mask)
    in_words = (8 * words[:, None] + np.arange(8)).ravel()
    remainder = np.arange(8 * eights, len(mask))
    candidates: Array = np.concatenate((in_words, remainder))
    return candidates[mask[candidates]]


def delete_at(values: Array, indices: Array) -> Array:
    """Return values without those at ascending `indices` along the last axis.

    For few deletions, the slices between them are copied; this is four times as fast as a mask.
    """
    if len(indices) > _MAX_SLICED_DELETIONS:
        return np.delete(values, indices, axis=-1)
    starts, ends = [0, *(indices + 1).tolist()], [*indices.tolist(), values.shape[-1]]
    slices = [values[..., start:end] for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(slices, axis=-1)


def concat_ranges(starts: Array, counts: Array) -> Array:
    """Return the concatenated ranges start, start + 1, ..., of `counts` values each."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    values: Array = np.arange(total) + np.repeat(starts - (ends - counts), counts)
    return values


class Texts(Sequence[str]):
    """Short texts without NUL characters, such as ids, as UTF-8 in one array."""

    def __init__(self, values: Array | None = None) -> None:
        self.column = GrowableArray(np.zeros(0, "S1") if values is None else values)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts."""
        encoded = [text.encode() for text in texts]
        if encoded:
            self.column.extend(np.array(encoded, "S"))

    def keep(self, kept: Array) -> None:
        """Keep only the values selected by a mask."""
        self.column.keep(kept)

    def take(self, rows: Array) -> list[str]:
        """Return the texts of some rows, in order."""
        found: list[bytes] = self.column.values[rows].tolist()
        # Joined by NUL, which no text contains, and decoded in one call.
        return b"\0".join(found).decode().split("\0") if found else []

    def __len__(self) -> int:
        return len(self.column.values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [text.decode() for text in self.column.values[index].tolist()]
        return bytes(self.column.values[index]).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])
