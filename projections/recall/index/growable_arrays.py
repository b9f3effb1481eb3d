"""Arrays that grow at their end, and text columns over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# Room that is left when an array is moved: each row is moved a few times at most.
_GROWTH = 1.25
# So few gaps, and what lies between them is long.
_FEW = 1_000


def part(columns: Mapping[str, Array], name: str) -> dict[str, Array]:
    """Return the columns of a part, as `within` names them."""
    start = f"{name}."
    return {
        key.removeprefix(start): values for key, values in columns.items() if key.startswith(start)
    }


def within(name: str, columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return columns under names that say of which part they are."""
    return {f"{name}.{key}": values for key, values in columns.items()}


class Column:
    """An array to whose end values are added; `values` are those that are there.

    Of several dimensions it grows along the last.
    """

    def __init__(self, values: Array) -> None:
        self._held = values
        self._count = values.shape[-1]

    @property
    def values(self) -> Array:
        """What is there, as a view that the next `extend` may leave behind."""
        return self._held[..., : self._count]

    def extend(self, more: Array) -> None:
        """Add values; text grows as wide as the widest."""
        needed = self._count + more.shape[-1]
        wide = np.promote_types(self._held.dtype, more.dtype)
        if needed > self._held.shape[-1] or wide != self._held.dtype:
            room = np.empty((*more.shape[:-1], max(int(needed * _GROWTH), 64)), wide)
            room[..., : self._count] = self.values
            self._held = room
        self._held[..., self._count : needed] = more
        self._count = needed

    def become(self, values: Array) -> None:
        """Hold other values."""
        self._held = values
        self._count = values.shape[-1]

    def keep(self, kept: Array) -> None:
        """Hold those alone that a mask marks."""
        self.become(without(self.values, np.flatnonzero(~kept)))


class Wide:
    """Wide rows, at whose end rows are added; what was mapped stays on disk until it is asked for.

    `type` is a row's, and `width` how many values it has. Rows that go stay where they lie, and
    `lying` says which of those that lie there are rows still; None: all are.
    """

    def __init__(
        self,
        held: Array | None,
        type: type[np.generic],
        width: int,
        lying: Array | None = None,
    ) -> None:
        self._held = np.zeros((0, width), type) if held is None else held
        self._flat = Column(np.zeros(0, type))
        self._lying = None if lying is None else Column(lying)
        #: Where rows lie that went since they were given.
        self.gone: Array = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self.lying)

    @property
    def lying(self) -> Array:
        """Where each row lies."""
        if self._lying is None:
            return np.arange(len(self._held) + len(self._came), dtype=np.int32)
        return self._lying.values

    @property
    def values(self) -> Array:
        """All rows; copied where some came to those that were held, or went."""
        came = self._came
        if self._lying is not None:
            return self.take(np.arange(len(self)))
        if not len(self._held):
            return came
        return np.concatenate((self._held, came)) if len(came) else self._held

    def extend(self, more: Array) -> None:
        """Add rows."""
        if self._lying is not None:
            first = len(self._held) + len(self._came)
            self._lying.extend(np.arange(first, first + len(more), dtype=np.int32))
        self._flat.extend(more.reshape(-1))

    def keep(self, kept: Array) -> None:
        """Hold those rows alone that a mask marks."""
        if kept.all():
            return
        lying = self.lying
        gone = np.flatnonzero(~kept)
        self.gone = np.concatenate((self.gone, lying[gone]))
        self._lying = Column(without(lying, gone))

    def take(self, rows: Array) -> Array:
        """Return some rows, in order."""
        found: Array
        if self._lying is not None:
            rows = self._lying.values[rows]
        first, came = len(self._held), self._came
        if not first or not len(came):
            found = (came if len(came) else self._held).take(rows, axis=0)
            return found
        new = rows >= first
        found = self._held.take(np.where(new, 0, rows), axis=0)
        found[new] = came[rows[new] - first]
        return found

    @property
    def _came(self) -> Array:
        flat, width = self._flat.values, self._held.shape[1]
        # Without an encoder it is 0.
        return flat.reshape(len(flat) // max(width, 1), width)


class Sums:
    """Adds up what several give to some of many rows, at the cost of those alone.

    A sparse accumulator (Gilbert, Moler and Schreiber, 1992): an array of zeros that is left so.
    """

    def __init__(self) -> None:
        self._values = np.zeros(0, np.float32)

    def of(self, parts: Iterable[tuple[Array, Array]], count: int) -> tuple[Array, Array]:
        """Return the rows, of `count`, to which any part gives, each once, and their sums.

        A part is rows, each once, and what it gives to them, more than 0.
        """
        if len(self._values) < count:
            self._values = np.zeros(count, np.float32)
        # Whatever stops this on its way leaves none behind that are not zeros.
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
    """Return each value once, ascending; of a few thousand, quicker than `np.unique`."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def true_places(mask: Array) -> Array:
    """Return where a mask is true; where that is hardly anywhere, quicker than `np.flatnonzero`."""
    eights = len(mask) // 8
    # Eight at a time: a word is zero where none of its bytes is one.
    words = np.flatnonzero(mask[: 8 * eights].view(np.uint64))
    if 8 * len(words) > eights:
        return np.flatnonzero(mask)
    places = (8 * words[:, None] + np.arange(8)).ravel()
    rest = np.arange(8 * eights, len(mask))
    found: Array = np.concatenate((places, rest))
    return found[mask[found]]


def without(values: Array, gone: Array) -> Array:
    """Return what is left of values without those at some places, ascending; along the last axis.

    Where few go, what lies between them is moved as it is, four times as fast as by a mask.
    """
    if len(gone) > _FEW:
        return np.delete(values, gone, axis=-1)
    starts, ends = [0, *(gone + 1).tolist()], [*gone.tolist(), values.shape[-1]]
    between = [values[..., start:end] for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(between, axis=-1)


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

    def keep(self, kept: Array) -> None:
        """Hold those alone that a mask marks."""
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
