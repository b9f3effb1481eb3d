"""The stored index: arrays in the files' folder, which are mapped into memory, all or none.

Those with wide rows are in a file of their own, where deleted rows are overwritten; the others are
replaced together. Whoever writes, prunes or removes them holds the lock LOCK, so that an erasure
also removes what a killed writer left, and nobody puts it back.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from recollect.projections.file_permissions import opener
from recollect.projections.recall.index.growable_arrays import Array

FILE = "recall.index"
LOCK = "recall.lock"
#: The files of the wide arrays: FILE names the one in use, and the other is written next.
WIDE_FILES = ("recall.codes0", "recall.codes1")

_TEMPORARY = FILE + ".tmp"
# The name and number of the format, the length of the description and its checksum.
_HEADER = struct.Struct("<16sQL")
_FORMAT = b"recollect/index7"
_ALIGNED = 64
# To compute the checksum of a larger array takes longer than the answer: like SQLite's pages,
# larger and wide arrays are used as the file system gives them. `verify` reads all.
_MAX_CHECKSUMMED_BYTES = 32_000_000
# A reader that sees the file replaced while it reads begins again.
_ATTEMPTS = 5


class _ArrayLocation(msgspec.Struct, frozen=True):
    """Where an array is: from `start`, counted from the end of the description.

    For a wide array, from the start of its file. A large array has no checksum.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    start: int
    size: int
    checksum: int | None = None


class _Description(msgspec.Struct, frozen=True):
    about: bytes
    arrays: list[_ArrayLocation]
    wide_file: str
    wide: list[_ArrayLocation]


class Stored(msgspec.Struct, frozen=True):
    """A stored index, its arrays mapped and private."""

    about: bytes
    arrays: dict[str, Array]


def write(
    directory: Path, about: bytes, arrays: Mapping[str, Array], wide: Mapping[str, Array]
) -> None:
    """Replace the stored index by these arrays, and a text about them."""
    found = _read_description(directory)
    name = WIDE_FILES[found is not None and found.wide_file == WIDE_FILES[0]]
    # Another process may have mapped the old file: a new one is made instead of writing to it.
    (directory / name).unlink(missing_ok=True)
    whole = {key: np.ascontiguousarray(values) for key, values in wide.items()}
    placed = _lay_out(whole)
    with open(directory / name, "wb", opener=opener) as file:
        _write_arrays(file, 0, placed, whole)
    _replace(directory, _Description(about, [], name, placed), arrays)


def prune(
    directory: Path, about: bytes, arrays: Mapping[str, Array], gone: Mapping[str, Array]
) -> None:
    """Replace all but the wide arrays, and overwrite the rows of these that are `gone`.

    Processes that mapped them see the rows overwritten.
    """
    found = _read_description(directory)
    assert found is not None, "it was read under the same lock"
    with open(directory / found.wide_file, "r+b") as file:
        for placed in found.wide:
            rows = gone.get(placed.name)
            if rows is not None and len(rows):
                held = np.memmap(file, placed.type, "r+", placed.start, placed.shape)
                held[rows] = 0
                held.flush()
    _replace(directory, msgspec.structs.replace(found, about=about, arrays=[]), arrays)


def read(directory: Path) -> Stored | None:
    """Return the stored index; None where it is not whole."""
    for _ in range(_ATTEMPTS):
        try:
            with open(directory / FILE, "rb") as file:
                found = _read(directory, file)
                if os.fstat(file.fileno()).st_ino == (directory / FILE).stat().st_ino:
                    return found
        except FileNotFoundError:
            return None
    return None


def read_metadata(directory: Path) -> bytes | None:
    """Return the text about the stored index; None where there is none that can be read."""
    found = _read_description(directory)
    return None if found is None else found.about


def remove(directory: Path) -> None:
    """Remove the stored index, and what a killed writer left."""
    for name in (_TEMPORARY, FILE, *WIDE_FILES):
        (directory / name).unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove what a killed writer left."""
    found = _read_description(directory)
    for name in (_TEMPORARY, *WIDE_FILES):
        if found is None or name != found.wide_file:
            (directory / name).unlink(missing_ok=True)


def _read_description(directory: Path) -> _Description | None:
    try:
        with open(directory / FILE, "rb") as file:
            return _parse_description(file)
    except FileNotFoundError:
        return None


def _parse_description(file: BinaryIO) -> _Description | None:
    """Return the description at the start of a file; None: it is torn, or in another format."""
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return None
    form, length, checksum = _HEADER.unpack(head)
    if form != _FORMAT or length > os.fstat(file.fileno()).st_size:
        return None
    packed = file.read(length)
    if len(packed) != length or zlib.crc32(packed) != checksum:
        return None
    return msgspec.msgpack.decode(packed, type=_Description)


def _read(directory: Path, file: BinaryIO) -> Stored | None:
    described = _parse_description(file)
    if described is None:
        return None
    arrays = _map_arrays(file, _align(file.tell()), described.arrays)
    with open(directory / described.wide_file, "rb") as wide_file:
        wide = _map_arrays(wide_file, 0, described.wide)
    if arrays is None or wide is None:
        return None
    return Stored(described.about, {**arrays, **wide})


def _map_arrays(file: BinaryIO, base: int, placed: list[_ArrayLocation]) -> dict[str, Array] | None:
    """Return the arrays of a file; None where its length is wrong, or an array is torn."""
    size = os.fstat(file.fileno()).st_size
    if size != base + _total_size(placed):
        return None
    view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if size else b"")
    arrays = {}
    for item in placed:
        content = view[base + item.start : base + item.start + item.size]
        if item.checksum not in (None, _checksum(content)):
            return None
        arrays[item.name] = np.frombuffer(content, item.type).reshape(item.shape)
    return arrays


def _replace(directory: Path, described: _Description, arrays: Mapping[str, Array]) -> None:
    """Replace FILE by arrays and their description, and remove files that it does not name."""
    whole = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    placed = _lay_out(whole)
    sums = [
        msgspec.structs.replace(item, checksum=_checksum(_bytes(values)))
        for item, values in zip(placed, whole.values(), strict=True)
    ]
    packed = msgspec.msgpack.encode(msgspec.structs.replace(described, arrays=sums))
    temporary = directory / _TEMPORARY
    with open(temporary, "wb", opener=opener) as file:
        file.write(_HEADER.pack(_FORMAT, len(packed), zlib.crc32(packed)))
        file.write(packed)
        _write_arrays(file, _align(file.tell()), placed, whole)
    os.replace(temporary, directory / FILE)
    remove_leftovers(directory)


def _lay_out(arrays: Mapping[str, Array]) -> list[_ArrayLocation]:
    placed, start = [], 0
    for name, values in arrays.items():
        placed.append(_ArrayLocation(name, values.dtype.str, values.shape, start, values.nbytes))
        start += _align(values.nbytes)
    return placed


def _write_arrays(
    file: BinaryIO, base: int, placed: list[_ArrayLocation], arrays: Mapping[str, Array]
) -> None:
    """Write arrays at their places, and sync the file."""
    for item, values in zip(placed, arrays.values(), strict=True):
        file.seek(base + item.start)
        file.write(_bytes(values))
    file.truncate(base + _total_size(placed))
    file.flush()
    os.fsync(file.fileno())


def _total_size(placed: list[_ArrayLocation]) -> int:
    return sum(_align(item.size) for item in placed)


def _bytes(values: Array) -> bytes | memoryview:
    return values.data.cast("B") if values.size else b""


def _checksum(content: bytes | memoryview) -> int | None:
    return zlib.crc32(content) if len(content) <= _MAX_CHECKSUMMED_BYTES else None


def _align(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
