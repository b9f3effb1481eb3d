"""What an input consists of: the files of a directory or of an archive, in a fixed order.

Nothing is unpacked to where it could stay: a zip is read in place, a packed tar through a file
without a name. No link is followed, and no name leads out of the folder.
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
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Rejection
from recollect.streams.adapters.input.input_files import (
    MAX_COMPRESSION_RATIO,
    Damaged,
    InputFile,
    Member,
    Meter,
    TooLarge,
    counted,
    too_large,
)

#: An archive may have so many members, and unpack to so many bytes.
MAX_MEMBERS = 1_000_000
MAX_UNPACKED_BYTES = 1 << 38

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_AT = 257
_TAR = b"ustar"
_CHUNK_BYTES = 1 << 16
_ENCRYPTED = 0x1
_IN_UTF_8 = 0x800
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, tarfile.TarError, NotImplementedError)


class Folder(ABC):
    """A folder of files and folders; `path` is how a report names it.

    `size`: how many bytes it has as it lies, where that is known at once.
    """

    path: str
    size: int | None = None

    @abstractmethod
    def files(self) -> list[str]:
        """Return the names of the files that stand directly in it, sorted."""

    @abstractmethod
    def folders(self) -> list[str]:
        """Return the names of the folders that stand directly in it, sorted."""

    @abstractmethod
    def file(self, name: str) -> Member:
        """Return one of its files."""

    @abstractmethod
    def folder(self, name: str) -> Folder:
        """Return one of its folders."""

    def refused(self) -> list[Rejection]:
        """Return what of it may not be read, and why: of an archive at its root."""
        return []

    def others(self) -> int:
        """Return how many entries stand directly in it that are neither: links, devices."""
        return 0


class Directory(Folder):
    """A directory on disk."""

    def __init__(self, path: Path, meter: Meter) -> None:
        self._directory = path
        self._meter = meter
        self.path = str(path)

    def files(self) -> list[str]:
        return [entry for entry, mode in self._entries() if stat.S_ISREG(mode)]

    def folders(self) -> list[str]:
        return [entry for entry, mode in self._entries() if stat.S_ISDIR(mode)]

    def others(self) -> int:
        modes = [mode for _, mode in self._entries()]
        return sum(not stat.S_ISREG(mode) and not stat.S_ISDIR(mode) for mode in modes)

    def file(self, name: str) -> Member:
        return InputFile(self._directory / name, self._meter)

    def folder(self, name: str) -> Folder:
        return Directory(self._directory / name, self._meter)

    def _entries(self) -> list[tuple[str, int]]:
        try:
            with os.scandir(self._directory) as found:
                entries = [(entry.name, entry.stat(follow_symlinks=False)) for entry in found]
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror}") from None
        return sorted((name, status.st_mode) for name, status in entries)


class Archive(Folder):
    """A folder within an archive; its root knows what was refused."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._files: dict[str, Member] = {}
        self._folders: dict[str, Archive] = {}
        self._refused: list[Rejection] = []

    def files(self) -> list[str]:
        return sorted(self._files)

    def folders(self) -> list[str]:
        return sorted(self._folders)

    def file(self, name: str) -> Member:
        return self._files[name]

    def folder(self, name: str) -> Folder:
        return self._folders[name]

    def refused(self) -> list[Rejection]:
        return self._refused

    def add(self, name: str, member: Member) -> None:
        """Put a member where its name says."""
        *parents, own = name.split("/")
        folder = self
        for parent in parents:
            if parent not in folder._folders:
                folder._folders[parent] = Archive(f"{folder.path}/{parent}")
            folder = folder._folders[parent]
        if own in folder._files:
            self.refuse(name, "the archive has it twice; the first is taken")
        else:
            folder._files[own] = member

    def refuse(self, name: str, reason: str) -> None:
        """Note that a member, or without a name the rest of the archive, is not read."""
        path = f"{self.path}/{name}" if name else self.path
        self._refused.append(Rejection(path, 1, reason))


def opened_folder(file: Member, meter: Meter) -> Folder | None:
    """Return what an archive holds; None: the file is none.

    Raises:
        InvalidInput: it cannot be read as what it is.
    """
    start = file.start()
    if start.startswith(_ZIP):
        return _zip(file, meter)
    if start[_TAR_AT:].startswith(_TAR):
        return _tar(file, meter)
    return None


def _zip(file: Member, meter: Meter) -> Folder:
    raw, size = _seekable(file, meter)
    try:
        archive = zipfile.ZipFile(raw)
    except _BROKEN as error:
        raise InvalidInput(f"{file.path} is a damaged or cut-off zip archive: {error}") from None
    members = [info for info in archive.infolist() if not info.is_dir()]
    if members and all(info.flag_bits & _ENCRYPTED for info in members):
        raise InvalidInput(
            f"{file.path} is encrypted; unpack it with its password, and name the folder"
        )
    _check(file.path, len(members), sum(info.file_size for info in members), size)
    root = Archive(file.path)
    root.size = size
    for info in members:
        name = _zip_name(info)
        if reason := _refused_name(name):
            root.refuse(name, reason)
        elif info.flag_bits & _ENCRYPTED:
            root.refuse(name, "it is encrypted; unpack it with its password")
        elif stat.S_ISLNK(info.external_attr >> 16):
            root.refuse(name, "it is a link, and no link is followed")
        elif too_large(info.file_size, info.compress_size):
            root.refuse(name, _TOO_LARGE)
        else:
            root.add(name, _ZipMember(archive, info, name, file.path, raw))
    return root


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return a member's name as whoever packed it wrote it.

    Programs of Windows part folders by a backslash, and many write UTF-8 and do not say so.
    """
    name = info.filename
    if not info.flag_bits & _IN_UTF_8 and not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name.replace("\\", "/")


def _tar(file: Member, meter: Meter) -> Folder:
    raw, size = _seekable(file, meter)
    root = Archive(file.path)
    root.size = size
    try:
        archive = tarfile.TarFile(fileobj=cast("BinaryIO", raw), mode="r")
    except _BROKEN as error:
        raise InvalidInput(f"{file.path} is a damaged or cut-off tar archive: {error}") from None
    total = count = 0
    while True:
        try:
            info = archive.next()
        except (*_BROKEN, OSError) as error:
            root.refuse("", f"the archive is damaged or cut off after this ({error})")
            break
        if info is None:
            break
        # Each is kept by the archive as well, which reads them one by one.
        count, total = count + 1, total + info.size
        _check(file.path, count, total, None)
        if info.isdir():
            continue
        name = info.name.removeprefix("./")
        if reason := _refused_name(name):
            root.refuse(name, reason)
        elif not info.isreg():
            root.refuse(name, "it is a link or no file, and no link is followed")
        else:
            root.add(name, _TarMember(archive, info, f"{file.path}/{name}", meter))
    return root


_TOO_LARGE = (
    f"it unpacks to more than {MAX_COMPRESSION_RATIO} times its size; if that is right, "
    "unpack it and name the folder"
)


def _check(path: str, members: int, unpacked_size: int, size: int | None) -> None:
    """Refuse an archive that is made to fill a disk or to take for ever."""
    if members > MAX_MEMBERS:
        raise InvalidInput(f"{path} has more than {MAX_MEMBERS:,} members; unpack it")
    if unpacked_size > MAX_UNPACKED_BYTES or (size is not None and too_large(unpacked_size, size)):
        raise InvalidInput(
            f"{path} says that it unpacks to {unpacked_size:,} bytes, which is too much for what "
            "it is; if that is right, unpack it and name the folder"
        )


def _refused_name(name: str) -> str | None:
    """Return what is wrong with a member's name; None: nothing."""
    parts = name.split("/")
    if name.startswith("/") or "\\" in name or ":" in parts[0][1:2]:
        return "its name is that of a place outside of the archive"
    if any(part in ("", ".", "..") for part in parts):
        return "its name leads out of the archive"
    return None


def _seekable(file: Member, meter: Meter) -> tuple[_Shared, int]:
    """Return a file in which one can go back, and its size."""
    if isinstance(file, InputFile) and file.size is not None and not _is_packed(file):
        return _Shared(io.FileIO(file.path), meter), file.size
    # What is packed, lies in an archive, or comes through a pipe goes through a file without a
    # name, which is gone when this process is, whatever ends it.
    spooled = tempfile.TemporaryFile()  # noqa: SIM115 - whoever reads it closes it
    try:
        with file.open() as source:
            while some := source.read(_CHUNK_BYTES):
                spooled.write(some)
    except TooLarge as error:
        raise InvalidInput(f"{file.path}: {error}") from None
    except Damaged:
        # What was there before may be whole members; the archive's reader says where it ends.
        pass
    except OSError as error:
        raise InvalidInput(f"{file.path} cannot be unpacked: {error.strerror}") from None
    size = spooled.tell()
    spooled.seek(0)
    return _Shared(cast("io.RawIOBase", spooled), None), size


def _is_packed(file: InputFile) -> bool:
    with file.raw(None) as raw:
        return raw.peek(2).startswith(b"\x1f\x8b")


class _Shared(io.RawIOBase):
    """An archive's file, which many members read; it tells how much of it is read."""

    def __init__(self, raw: io.RawIOBase | io.FileIO, meter: Meter | None) -> None:
        super().__init__()
        self._raw = raw
        self.meter = meter
        self.quiet = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0, /) -> int:
        return int(self._raw.seek(place, whence))

    def tell(self) -> int:
        return int(self._raw.tell())

    def readinto(self, buffer: Any, /) -> int | None:
        count = cast("int | None", cast(Any, self._raw).readinto(buffer))
        if count and self.meter is not None and not self.quiet:
            self.meter.advance(count)
        return count

    def read(self, size: int = -1, /) -> bytes:
        some = self._raw.read(size) or b""
        if self.meter is not None and not self.quiet:
            self.meter.advance(len(some))
        return some

    def close(self) -> None:
        self._raw.close()
        super().close()


class _ZipMember(Member):
    """A file in a zip."""

    def __init__(
        self,
        archive: zipfile.ZipFile,
        info: zipfile.ZipInfo,
        path: str,
        within: str,
        shared: _Shared,
    ) -> None:
        super().__init__(f"{within}/{path}", path.rpartition("/")[2], info.file_size, Meter())
        self._archive = archive
        self._info = info
        self._shared = shared

    def raw(self, meter: Meter | None) -> io.BufferedReader:
        self._shared.quiet = meter is None
        try:
            opened = self._archive.open(self._info)
        except (*_BROKEN, RuntimeError, OSError) as error:
            raise Damaged(f"the archive cannot give this member: {error}") from None
        return io.BufferedReader(_Guarded(cast("io.RawIOBase", opened)), _CHUNK_BYTES)


class _TarMember(Member):
    """A file in a tar."""

    def __init__(
        self,
        archive: tarfile.TarFile,
        info: tarfile.TarInfo,
        path: str,
        meter: Meter,
    ) -> None:
        super().__init__(path, info.name.rpartition("/")[2], info.size, meter)
        self._archive = archive
        self._info = info

    def raw(self, meter: Meter | None) -> io.BufferedReader:
        opened = self._archive.extractfile(self._info)
        assert opened is not None, "it is a regular file"
        return counted(_Guarded(cast("io.RawIOBase", opened)), meter)


class _Guarded(io.RawIOBase):
    """A member of an archive, whose damage is told as such."""

    def __init__(self, member: io.RawIOBase) -> None:
        super().__init__()
        self._member = member

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            some = self._member.read(len(buffer)) or b""
        except (*_BROKEN, OSError) as error:
            raise Damaged(f"the member is damaged or cut off after this ({error})") from None
        buffer[: len(some)] = some
        return len(some)

    def close(self) -> None:
        self._member.close()
        super().close()
