"""Folders of an input: directories and archives, with their files in a fixed order.

No unpacked file remains on disk: a zip is read in place, a compressed tar through an unnamed file.
Links are not followed, and no member's name can lead out of the folder.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Rejection
from recollect.streams.adapters.input.input_files import (
    MAX_COMPRESSION_RATIO,
    ByteCounter,
    DamagedInput,
    DecompressionBomb,
    InputEntry,
    InputFile,
    is_decompression_bomb,
    time_or_none,
    with_byte_counter,
)

#: Limits of an archive: the number of its members, and its unpacked size in bytes.
MAX_MEMBERS = 1_000_000
MAX_UNPACKED_BYTES = 1 << 38

#: Maximum depth of folders in folders.
MAX_FOLDER_DEPTH = 100
_TOO_DEEP = f"its folders are nested more than {MAX_FOLDER_DEPTH} levels deep"

_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC_OFFSET = 257
_TAR_MAGIC = b"ustar"
_CHUNK_BYTES = 1 << 16
_ENCRYPTED_FLAG = 0x1
_UTF_8_FLAG = 0x800
#: The time that a zip gives a member without one.
_NO_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, tarfile.TarError, NotImplementedError)


class Folder(ABC):
    """A folder of files and folders; `path` is its name in reports.

    `size`: its size on disk in bytes, if that is known at once.
    """

    path: str
    size: int | None = None

    @abstractmethod
    def files(self) -> list[str]:
        """Return the names of the files directly in it, sorted."""

    @abstractmethod
    def folders(self) -> list[str]:
        """Return the names of the folders directly in it, sorted."""

    @abstractmethod
    def file(self, name: str) -> InputEntry:
        """Return one of its files."""

    @abstractmethod
    def folder(self, name: str) -> Folder:
        """Return one of its folders."""

    def rejections(self) -> list[Rejection]:
        """Return rejections for what cannot be read: the folder, or members of an archive.

        The members of an archive are listed by its root only.
        """
        return []

    def other_count(self) -> int:
        """Return how many entries directly in it are neither files nor folders, such as links."""
        return 0


def all_folders(folder: Folder) -> Iterator[Folder]:
    """Yield a folder and those in it, at any depth."""
    yield folder
    for name in folder.folders():
        yield from all_folders(folder.folder(name))


class Directory(Folder):
    """A directory on disk; if it cannot be read, it counts as empty and has a rejection.

    `depth`: how many directories of the input contain it. Folders that are too deep are rejected.
    """

    def __init__(self, path: Path, byte_counter: ByteCounter, depth: int = 0) -> None:
        self._directory = path
        self._byte_counter = byte_counter
        self._depth = depth
        self.path = str(path)

    def files(self) -> list[str]:
        return [entry for entry, mode in self._entries() if stat.S_ISREG(mode)]

    def folders(self) -> list[str]:
        if self._depth >= MAX_FOLDER_DEPTH:
            return []
        return [entry for entry, mode in self._entries() if stat.S_ISDIR(mode)]

    def other_count(self) -> int:
        modes = [mode for _, mode in self._entries()]
        return sum(not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) for mode in modes)

    def file(self, name: str) -> InputEntry:
        return InputFile(self._directory / name, self._byte_counter)

    def folder(self, name: str) -> Folder:
        return Directory(self._directory / name, self._byte_counter, self._depth + 1)

    def rejections(self) -> list[Rejection]:
        try:
            modes = [mode for _, mode in self._scan()]
        except OSError as error:
            return [Rejection(self.path, 1, f"the folder cannot be read: {error.strerror}")]
        if self._depth >= MAX_FOLDER_DEPTH and any(map(stat.S_ISDIR, modes)):
            return [Rejection(self.path, 1, _TOO_DEEP)]
        return []

    def _entries(self) -> list[tuple[str, int]]:
        try:
            return self._scan()
        except OSError:
            return []

    def _scan(self) -> list[tuple[str, int]]:
        """Return the name and mode of each entry, sorted; skip entries that vanish meanwhile."""
        entries = []
        with os.scandir(self._directory) as found:
            for entry in found:
                with suppress(FileNotFoundError):
                    entries.append((entry.name, entry.stat(follow_symlinks=False).st_mode))
        return sorted(entries)


class Archive(Folder):
    """A folder in an archive; the root folder also holds the rejections of the whole archive."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._files: dict[str, InputEntry] = {}
        self._folders: dict[str, Archive] = {}
        self._rejections: list[Rejection] = []

    def files(self) -> list[str]:
        return sorted(self._files)

    def folders(self) -> list[str]:
        return sorted(self._folders)

    def file(self, name: str) -> InputEntry:
        return self._files[name]

    def folder(self, name: str) -> Folder:
        return self._folders[name]

    def rejections(self) -> list[Rejection]:
        return self._rejections

    def add(self, name: str, entry: InputEntry) -> None:
        """Add a member under its path."""
        *parents, base_name = name.split("/")
        folder = self
        for parent in parents:
            if parent not in folder._folders:
                folder._folders[parent] = Archive(f"{folder.path}/{parent}")
            folder = folder._folders[parent]
        if base_name in folder._files:
            self.reject(name, "the archive contains it twice; only the first copy is read")
        else:
            folder._files[base_name] = entry

    def reject(self, name: str, reason: str) -> None:
        """Record that a member is not read; with an empty name, the rest of the archive."""
        path = f"{self.path}/{name}" if name else self.path
        self._rejections.append(Rejection(path, 1, reason))


def open_archive(file: InputEntry, byte_counter: ByteCounter) -> Folder | None:
    """Open an archive; None if the file is not one.

    Raises:
        InvalidInput: the archive is damaged, encrypted or too large.
    """
    start = file.start()
    if start.startswith(_ZIP_MAGICS):
        return _zip(file, byte_counter)
    if start[_TAR_MAGIC_OFFSET:].startswith(_TAR_MAGIC):
        return _tar(file, byte_counter)
    return None


def _zip(file: InputEntry, byte_counter: ByteCounter) -> Folder:
    raw, size = _seekable(file, byte_counter)
    try:
        archive = zipfile.ZipFile(raw)
    except _ARCHIVE_ERRORS as error:
        raise InvalidInput(f"{file.path} is a damaged or cut-off zip archive: {error}") from None
    entries = [info for info in archive.infolist() if not info.is_dir()]
    if entries and all(info.flag_bits & _ENCRYPTED_FLAG for info in entries):
        raise InvalidInput(
            f"{file.path} is encrypted; unpack it with its password, and import the folder"
        )
    _check_size(file.path, len(entries), sum(info.file_size for info in entries), size)
    root = Archive(file.path)
    root.size = size
    for info in entries:
        name = _zip_name(info)
        if reason := _name_problem(name):
            root.reject(name, reason)
        elif info.flag_bits & _ENCRYPTED_FLAG:
            root.reject(name, "it is encrypted; unpack it with its password")
        elif stat.S_ISLNK(info.external_attr >> 16):
            root.reject(name, "it is a link; links are not followed")
        elif is_decompression_bomb(info.file_size, info.compress_size):
            root.reject(name, _BOMB_REASON)
        else:
            root.add(name, _ZipEntry(archive, info, name, file.path, raw))
    return root


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name with slashes, as text.

    Windows programs separate folders by backslashes, and many write UTF-8 without the flag.
    """
    name = info.filename
    if not info.flag_bits & _UTF_8_FLAG and not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name.replace("\\", "/")


def _tar(file: InputEntry, byte_counter: ByteCounter) -> Folder:
    raw, size = _seekable(file, byte_counter)
    root = Archive(file.path)
    root.size = size
    try:
        archive = tarfile.TarFile(fileobj=cast("BinaryIO", raw), mode="r")
    except _ARCHIVE_ERRORS as error:
        raise InvalidInput(f"{file.path} is a damaged or cut-off tar archive: {error}") from None
    total = count = 0
    while True:
        try:
            info = archive.next()
        except (*_ARCHIVE_ERRORS, OSError) as error:
            root.reject("", f"the archive is damaged or cut off after this ({error})")
            break
        if info is None:
            break
        # Limit the members: the archive keeps each one in memory.
        count, total = count + 1, total + info.size
        _check_size(file.path, count, total, None)
        if info.isdir():
            continue
        name = info.name.removeprefix("./")
        if reason := _name_problem(name):
            root.reject(name, reason)
        elif not info.isreg():
            root.reject(name, "it is not a regular file; links are not followed")
        else:
            root.add(name, _TarEntry(archive, info, f"{file.path}/{name}", byte_counter))
    return root


_BOMB_REASON = (
    f"it unpacks to more than {MAX_COMPRESSION_RATIO} times its size; if that is right, "
    "unpack it and import the folder"
)


def _check_size(path: str, entries: int, unpacked_size: int, size: int | None) -> None:
    """Raise InvalidInput if an archive is too large or looks like a decompression bomb."""
    if entries > MAX_MEMBERS:
        raise InvalidInput(f"{path} has more than {MAX_MEMBERS:,} members; unpack it")
    if unpacked_size > MAX_UNPACKED_BYTES or (
        size is not None and is_decompression_bomb(unpacked_size, size)
    ):
        raise InvalidInput(
            f"{path} claims to unpack to {unpacked_size:,} bytes, which is too much for its "
            "size; if that is right, unpack it and import the folder"
        )


def _name_problem(name: str) -> str | None:
    """Return why a member's name is invalid, or None."""
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or ":" in parts[0][1:2]:
        return "its name is an absolute path"
    if any(part in ("", ".", "..") for part in parts):
        return "its path points outside the archive"
    if len(parts) > MAX_FOLDER_DEPTH + 1:
        return _TOO_DEEP
    return None


def _seekable(file: InputEntry, byte_counter: ByteCounter) -> tuple[_SharedFile, int]:
    """Return a seekable file, and its size."""
    if isinstance(file, InputFile) and file.size is not None and not _is_gzipped(file):
        return _SharedFile(io.FileIO(file.path), byte_counter), file.size
    # Compressed files, members of archives and pipes are copied to an unnamed file, which is
    # deleted when this process ends.
    spooled = tempfile.TemporaryFile()  # noqa: SIM115 - whoever reads it closes it
    try:
        with file.open() as source:
            while chunk := source.read(_CHUNK_BYTES):
                spooled.write(chunk)
    except DecompressionBomb as error:
        raise InvalidInput(f"{file.path}: {error}") from None
    except DamagedInput:
        # Members before the damage may be complete; the archive's reader reports the damage.
        pass
    except OSError as error:
        raise InvalidInput(f"{file.path} cannot be unpacked: {error.strerror}") from None
    size = spooled.tell()
    spooled.seek(0)
    return _SharedFile(cast("io.RawIOBase", spooled), None), size


def _is_gzipped(file: InputFile) -> bool:
    with file.raw(None) as raw:
        return raw.peek(2).startswith(b"\x1f\x8b")


class _SharedFile(io.RawIOBase):
    """An archive's file, shared by its members; it counts the bytes read."""

    def __init__(self, raw: io.RawIOBase | io.FileIO, byte_counter: ByteCounter | None) -> None:
        super().__init__()
        self._raw = raw
        self.byte_counter = byte_counter
        self.uncounted = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return int(self._raw.seek(offset, whence))

    def tell(self) -> int:
        return int(self._raw.tell())

    def readinto(self, buffer: Any, /) -> int | None:
        count = cast("int | None", cast(Any, self._raw).readinto(buffer))
        if count and self.byte_counter is not None and not self.uncounted:
            self.byte_counter.on_bytes_read(count)
        return count

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._raw.read(size) or b""
        if self.byte_counter is not None and not self.uncounted:
            self.byte_counter.on_bytes_read(len(chunk))
        return chunk

    def close(self) -> None:
        self._raw.close()
        super().close()


class _ZipEntry(InputEntry):
    """A file in a zip archive."""

    def __init__(
        self,
        archive: zipfile.ZipFile,
        info: zipfile.ZipInfo,
        path: str,
        archive_path: str,
        shared: _SharedFile,
    ) -> None:
        name = path.rpartition("/")[2]
        super().__init__(f"{archive_path}/{path}", name, info.file_size, ByteCounter())
        self._archive = archive
        self._info = info
        self._shared = shared
        # Zip archives record no time zone; 1980-01-01 means that the time is missing.
        with suppress(ValueError):
            self.modified_at = datetime(*info.date_time, tzinfo=UTC)
        if info.date_time <= _NO_ZIP_TIME:
            self.modified_at = None

    def raw(self, byte_counter: ByteCounter | None) -> io.BufferedReader:
        self._shared.uncounted = byte_counter is None
        try:
            opened = self._archive.open(self._info)
        except (*_ARCHIVE_ERRORS, RuntimeError, OSError) as error:
            raise DamagedInput(f"this member of the archive cannot be read: {error}") from None
        return io.BufferedReader(_MemberFile(cast("io.RawIOBase", opened)), _CHUNK_BYTES)


class _TarEntry(InputEntry):
    """A file in a tar archive."""

    def __init__(
        self,
        archive: tarfile.TarFile,
        info: tarfile.TarInfo,
        path: str,
        byte_counter: ByteCounter,
    ) -> None:
        super().__init__(path, info.name.rpartition("/")[2], info.size, byte_counter)
        self._archive = archive
        self._info = info
        self.modified_at = time_or_none(info.mtime)

    def raw(self, byte_counter: ByteCounter | None) -> io.BufferedReader:
        opened = self._archive.extractfile(self._info)
        assert opened is not None, "it is a regular file"
        return with_byte_counter(_MemberFile(cast("io.RawIOBase", opened)), byte_counter)


class _MemberFile(io.RawIOBase):
    """The content of an archive's member; reading raises DamagedInput where it is damaged."""

    def __init__(self, entry: io.RawIOBase) -> None:
        super().__init__()
        self._entry = entry

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            chunk = self._entry.read(len(buffer)) or b""
        except (*_ARCHIVE_ERRORS, OSError) as error:
            raise DamagedInput(f"the member is damaged or cut off after this ({error})") from None
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._entry.close()
        super().close()
