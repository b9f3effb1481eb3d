"""The stored index: arrays in the zone's directory, memory-mapped all together or not at all.

Arrays with wide rows have a file of their own, in which deleted rows are overwritten in place; the
other arrays are replaced together. To write, prune or remove the index a process must hold LOCK, so
that an erasure also removes the files of a killed writer, and no writer restores erased rows.
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
from recollect.projections.recall.index.arrays.growable_arrays import Array

FILE = "recall.index"
LOCK = "recall.lock"
#: The two files for wide arrays: FILE names the current one; the next write goes to the other.
WIDE_FILES = ("recall.codes0", "recall.codes1")

_TEMPORARY = FILE + ".tmp"
# The name and version of the format, and the length and checksum of the description.
_HEADER = struct.Struct("<16sQL")
_FORMAT = b"recollect/index8"
_ALIGNMENT = 64
# A larger array's checksum would take longer to compute than an answer takes. Like SQLite's pages,
# large and wide arrays are used unchecked; `verify` compares them with the rows.
_MAX_CHECKSUMMED_BYTES = 32_000_000
# Attempts of a reader whose file is replaced while it reads.
_ATTEMPTS = 5


class _ArrayLocation(msgspec.Struct, frozen=True):
    """The type, shape and location of an array.

    `start`: offset in bytes from the end of the description, or for a wide array from the start
    of its file. `checksum`: CRC-32, None for a large or wide array.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    start: int
    size: int
    checksum: int | None = None


class _Description(msgspec.Struct, frozen=True):
    metadata: bytes = msgspec.field(name="about")
    arrays: list[_ArrayLocation]
    wide_file: str
    wide: list[_ArrayLocation]


class Stored(msgspec.Struct, frozen=True):
    """A stored index: the caller's metadata, and the arrays, mapped copy-on-write."""

    metadata: bytes
    arrays: dict[str, Array]


def write(
    directory: Path, metadata: bytes, arrays: Mapping[str, Array], wide: Mapping[str, Array]
) -> None:
    """Replace the stored index by these arrays and metadata."""
    current = _read_description(directory)
    name = WIDE_FILES[current is not None and current.wide_file == WIDE_FILES[0]]
    # Another process may have mapped the old file, so a new file is made.
    (directory / name).unlink(missing_ok=True)
    contiguous = {key: np.ascontiguousarray(values) for key, values in wide.items()}
    locations = _lay_out(contiguous)
    with open(directory / name, "wb", opener=opener) as file:
        _write_arrays(file, 0, locations, contiguous)
    _replace(directory, _Description(metadata, [], name, locations), arrays)


def prune(
    directory: Path, metadata: bytes, arrays: Mapping[str, Array], removed: Mapping[str, Array]
) -> None:
    """Replace all arrays except the wide ones; in these, overwrite the `removed` rows with zeros.

    Processes that have mapped the wide arrays see the zeros.
    """
    current = _read_description(directory)
    assert current is not None, "it was read under the same lock"
    with open(directory / current.wide_file, "r+b") as file:
        for location in current.wide:
            rows = removed.get(location.name)
            if rows is not None and len(rows):
                values = np.memmap(file, location.type, "r+", location.start, location.shape)
                values[rows] = 0
                values.flush()
    _replace(directory, msgspec.structs.replace(current, metadata=metadata, arrays=[]), arrays)


def read(directory: Path) -> Stored | None:
    """Return the stored index; None if it is missing or incomplete."""
    for _ in range(_ATTEMPTS):
        try:
            with open(directory / FILE, "rb") as file:
                stored = _read(directory, file)
                if os.fstat(file.fileno()).st_ino == (directory / FILE).stat().st_ino:
                    return stored
        except FileNotFoundError:
            return None
    return None


def read_metadata(directory: Path) -> bytes | None:
    """Return the metadata of the stored index; None if there is none, or it is unreadable."""
    found = _read_description(directory)
    return None if found is None else found.metadata


def remove(directory: Path) -> None:
    """Remove the stored index, and the files of a killed writer."""
    for name in (_TEMPORARY, FILE, *WIDE_FILES):
        (directory / name).unlink(missing_ok=True)


def remove_leftovers(directory: Path) -> None:
    """Remove the files of a killed writer."""
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
    """Return the description at the start of a file; None if it is torn or of another format."""
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return None
    format_, length, checksum = _HEADER.unpack(head)
    if format_ != _FORMAT or length > os.fstat(file.fileno()).st_size:
        return None
    packed = file.read(length)
    if len(packed) != length or zlib.crc32(packed) != checksum:
        return None
    return msgspec.msgpack.decode(packed, type=_Description)


def _read(directory: Path, file: BinaryIO) -> Stored | None:
    description = _parse_description(file)
    if description is None:
        return None
    arrays = _map_arrays(file, _align(file.tell()), description.arrays)
    with open(directory / description.wide_file, "rb") as wide_file:
        wide = _map_arrays(wide_file, 0, description.wide)
    if arrays is None or wide is None:
        return None
    return Stored(description.metadata, {**arrays, **wide})


def _map_arrays(
    file: BinaryIO, base: int, locations: list[_ArrayLocation]
) -> dict[str, Array] | None:
    """Return the arrays of a file; None if its length is wrong or an array is torn."""
    size = os.fstat(file.fileno()).st_size
    if size != base + _total_size(locations):
        return None
    view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) if size else b"")
    arrays = {}
    for item in locations:
        content = view[base + item.start : base + item.start + item.size]
        if item.checksum not in (None, _checksum(content)):
            return None
        arrays[item.name] = np.frombuffer(content, item.type).reshape(item.shape)
    return arrays


def _replace(directory: Path, description: _Description, arrays: Mapping[str, Array]) -> None:
    """Replace FILE by arrays and their description, and remove files that it does not name."""
    contiguous = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    locations = _lay_out(contiguous)
    with_checksums = [
        msgspec.structs.replace(item, checksum=_checksum(_bytes(values)))
        for item, values in zip(locations, contiguous.values(), strict=True)
    ]
    packed = msgspec.msgpack.encode(msgspec.structs.replace(description, arrays=with_checksums))
    temporary = directory / _TEMPORARY
    with open(temporary, "wb", opener=opener) as file:
        file.write(_HEADER.pack(_FORMAT, len(packed), zlib.crc32(packed)))
        file.write(packed)
        _write_arrays(file, _align(file.tell()), locations, contiguous)
    os.replace(temporary, directory / FILE)
    remove_leftovers(directory)


def _lay_out(arrays: Mapping[str, Array]) -> list[_ArrayLocation]:
    locations, start = [], 0
    for name, values in arrays.items():
        locations.append(_ArrayLocation(name, values.dtype.str, values.shape, start, values.nbytes))
        start += _align(values.nbytes)
    return locations


def _write_arrays(
    file: BinaryIO, base: int, locations: list[_ArrayLocation], arrays: Mapping[str, Array]
) -> None:
    """Write arrays at their locations, and sync the file."""
    for item, values in zip(locations, arrays.values(), strict=True):
        file.seek(base + item.start)
        file.write(_bytes(values))
    file.truncate(base + _total_size(locations))
    file.flush()
    os.fsync(file.fileno())


def _total_size(locations: list[_ArrayLocation]) -> int:
    return sum(_align(item.size) for item in locations)


def _bytes(values: Array) -> bytes | memoryview:
    return values.data.cast("B") if values.size else b""


def _checksum(content: bytes | memoryview) -> int | None:
    return zlib.crc32(content) if len(content) <= _MAX_CHECKSUMMED_BYTES else None


def _align(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
