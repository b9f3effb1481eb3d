"""Arrays in one file that is mapped into memory, whole or not at all.

Whoever writes or removes it holds the lock LOCK beside it: so what a writer that was killed left
behind is removed with the file when something is erased, and nobody puts it back.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np

from projections.private import opener
from projections.recall.columns import Array

FILE = "recall.index"
LOCK = "recall.lock"

# The form's name and number, the length of the description and its checksum.
_HEAD = struct.Struct("<16sQL")
_FORM = b"recollect/index4"
_ALIGNED = 64
# To read more than this only to sum it takes longer than the answer: like SQLite's pages, what is
# larger is taken as the file system gives it. `verify` reads all.
_MOST_SUMMED = 32_000_000


class _Placed(msgspec.Struct, frozen=True):
    """Where an array is: from `start` on, counted from the end of the description.

    A large one has no checksum.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    start: int
    size: int
    checksum: int | None


class _Description(msgspec.Struct, frozen=True):
    about: bytes
    arrays: list[_Placed]


def write(path: Path, about: bytes, arrays: Mapping[str, Array]) -> None:
    """Replace the file by these arrays, and a text about them."""
    placed, start = [], 0
    whole = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    for name, values in whole.items():
        checksum = _checksum(values.data.cast("B") if values.size else b"")
        placed.append(_Placed(name, values.dtype.str, values.shape, start, values.nbytes, checksum))
        start += _aligned(values.nbytes)
    description = msgspec.msgpack.encode(_Description(about, placed))
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb", opener=opener) as file:
        file.write(_HEAD.pack(_FORM, len(description), zlib.crc32(description)))
        file.write(description)
        base = _aligned(file.tell())
        for item, values in zip(placed, whole.values(), strict=True):
            file.seek(base + item.start)
            file.write(values.data.cast("B") if values.size else b"")
        file.truncate(base + start)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read(path: Path) -> tuple[bytes, dict[str, Array]] | None:
    """Return what was written, its arrays mapped and private; None where it is not whole."""
    try:
        with open(path, "rb") as file:
            held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (FileNotFoundError, ValueError):
        # None, or an empty one.
        return None
    if len(held) < _HEAD.size:
        return None
    form, length, checksum = _HEAD.unpack_from(held)
    packed = held[_HEAD.size : _HEAD.size + length]
    if form != _FORM or len(packed) != length or zlib.crc32(packed) != checksum:
        return None
    description = msgspec.msgpack.decode(packed, type=_Description)
    base = _aligned(_HEAD.size + length)
    if len(held) != base + sum(_aligned(item.size) for item in description.arrays):
        return None
    view = memoryview(held)
    arrays = {}
    for item in description.arrays:
        content = view[base + item.start : base + item.start + item.size]
        if len(content) != item.size or _checksum(content) != item.checksum:
            return None
        arrays[item.name] = np.frombuffer(content, item.type).reshape(item.shape)
    return description.about, arrays


def remove(directory: Path) -> None:
    """Remove the file, and what a writer that was killed left of one."""
    for name in (FILE + ".tmp", FILE):
        (directory / name).unlink(missing_ok=True)


def _checksum(content: bytes | memoryview) -> int | None:
    return zlib.crc32(content) if len(content) <= _MOST_SUMMED else None


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
