"""A backup: a directory with copies of a home's ledger and keys, and a manifest.

A backup is written to a temporary directory, which is renamed when it is complete. A reader trusts
nothing in a backup: it reads only files with known names, and only if their size and hash are those
in the manifest.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import apsw
import msgspec

from recollect.projections.file_permissions import delete_directory, make_directory, opener
from recollect.projections.generations import replace_file, sync_directory
from recollect.projections.sqlite import scalar, snapshot_connection
from recollect.schemas.errors import Busy, CorruptFile, HomeError, InvalidInput, NewerFormat
from recollect.schemas.zones import check_zone
from recollect.streams.ledger import EVENTS, PARTITIONS
from recollect.streams.ledger.embedded_ledger import KEYS_FILE, LEDGER_FILE, EmbeddedLedger
from recollect.streams.ledger.ledger_file import LedgerFile
from recollect.streams.records.heads import head_text
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive

MANIFEST, TOKENS_FILE = "manifest.json", "tokens.json"
#: The files of a backup besides its manifest; `tokens.json` may be missing.
FILE_NAMES = (LEDGER_FILE, KEYS_FILE, TOKENS_FILE)
#: The newest known format of a manifest.
FORMAT = 1

# The prefix of the temporary directory; the backup's name follows.
_TEMPORARY_PREFIX = ".recollect-backup-"
_LOCK = "backup.lock"
_MAX_MANIFEST_BYTES = 1 << 26
_CHUNK = 1 << 20
_HASH = re.compile(r"[0-9a-f]{64}")


class BackedUpFile(msgspec.Struct, frozen=True):
    """A file of a backup: its size, and its SHA-256 in hexadecimal."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a backup. `made_at`: unix ms. `home`: the id of the ledger's home.

    `settings`: the content of home.json. `heads`: zone -> its head, as `status` prints it. `events`
    and `keys`: the number of event records and of keys.
    """

    format: int
    made_at: int
    home: str
    settings: msgspec.Raw
    heads: dict[str, str]
    events: int
    keys: int
    files: dict[str, BackedUpFile]


class _Format(msgspec.Struct, frozen=True):
    format: int


def write_backup(
    ledger: EmbeddedLedger,
    path: Path,
    *,
    home: str,
    settings: bytes,
    tokens: bytes | None,
    made_at: int,
) -> Manifest:
    """Write a backup of a ledger that may be in use.

    `home`: the id of its home. `settings` and `tokens`: the content of home.json and tokens.json.

    Raises:
        InvalidInput: `path` exists and is not an empty directory.
        Busy: another process is writing a backup to `path`.
        CorruptFile: the ledger's files are damaged.
    """
    with _temporary_directory(path) as directory:
        ledger.copy_files(directory)
        if tokens is not None:
            with open(directory / TOKENS_FILE, "wb", opener=opener) as file:
                file.write(tokens)
                file.flush()
                os.fsync(file.fileno())
        for name in (LEDGER_FILE, KEYS_FILE):
            check_pages(directory / name)
        with closing(LedgerFile(directory / LEDGER_FILE, durable=False, readonly=True)) as copied:
            heads = {zone: head_text(copied.head(zone)) for zone in copied.zones()}
            events = sum(copied.end(EVENTS, partition) for partition in range(PARTITIONS))
        with snapshot_connection(directory / KEYS_FILE) as connection:
            keys = int(scalar(connection, "SELECT count(*) FROM keys"))
        manifest = Manifest(
            format=FORMAT,
            made_at=made_at,
            home=home,
            settings=msgspec.Raw(settings),
            heads=heads,
            events=events,
            keys=keys,
            files={
                name: _describe(directory / name)
                for name in FILE_NAMES
                if (directory / name).exists()
            },
        )
        replace_file(directory / MANIFEST, msgspec.json.encode(manifest) + b"\n")
        failpoint("backup.copied")
    return manifest


def check_pages(path: Path) -> None:
    """Check all pages of a SQLite file.

    Raises:
        CorruptFile: a page is damaged.
    """
    try:
        with snapshot_connection(path) as connection:
            result = scalar(connection, "PRAGMA quick_check(1)")
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as error:
        result = str(error)
    if result != "ok":
        raise CorruptFile(f"{path.name} is damaged ({result}); run recollect doctor for details")


@contextmanager
def _temporary_directory(path: Path) -> Iterator[Path]:
    """Yield a temporary directory, which is renamed to `path` at the end."""
    path = path.resolve()
    if os.path.ismount(path):
        raise InvalidInput(f"{path} is a mount point: name a new directory inside it")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InvalidInput(f"{path} already exists: name a new or an empty directory")
    make_directory(path.parent)
    for leftover in path.parent.glob(f"{_TEMPORARY_PREFIX}*"):
        # Left by a killed process, unless its lock is held.
        with suppress(Busy), exclusive(leftover / _LOCK, wait=False):
            delete_directory(leftover)
    directory = path.with_name(_TEMPORARY_PREFIX + path.name)
    try:
        with exclusive(directory / _LOCK, wait=False):
            try:
                yield directory
                sync_directory(directory)
                os.rename(directory, path)
            except BaseException:
                delete_directory(directory)
                raise
            # The temporary name no longer exists, so no other process waits for this lock.
            (path / _LOCK).unlink()
    except Busy:
        raise Busy(f"another process is writing a backup to {path}; wait for it") from None
    sync_directory(path)
    sync_directory(path.parent)


def _describe(path: Path) -> BackedUpFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return BackedUpFile(path.stat().st_size, digest)


class Backup:
    """An existing backup, whose content is not trusted."""

    def __init__(self, directory: Path) -> None:
        """Read the manifest.

        Raises:
            HomeError: the directory has no backup.
            CorruptFile: the manifest is invalid.
            NewerFormat: a newer recollect wrote it.
        """
        self.directory = directory.resolve()
        path = self.directory / MANIFEST
        try:
            with _open_regular(path) as file:
                written = os.read(file, _MAX_MANIFEST_BYTES + 1)
                while (more := os.read(file, _CHUNK)) and len(written) <= _MAX_MANIFEST_BYTES:
                    written += more
        except (FileNotFoundError, NotADirectoryError):
            raise HomeError(
                f"{directory} holds no complete backup: it has no {MANIFEST}, which is written last"
            ) from None
        self.digest = hashlib.sha256(written).hexdigest()
        try:
            format_ = msgspec.json.decode(written, type=_Format).format
            if format_ > FORMAT:
                raise NewerFormat(
                    f"{path} was written by a newer recollect (format {format_}; this one reads up "
                    f"to {FORMAT}); upgrade recollect to restore it"
                )
            self.manifest = msgspec.json.decode(written, type=Manifest)
            self._check()
        except (msgspec.DecodeError, UnicodeDecodeError, InvalidInput) as error:
            raise CorruptFile(f"{path} is damaged ({error}); use another backup") from None

    def _check(self) -> None:
        manifest = self.manifest
        for zone in manifest.heads:
            check_zone(zone)
        if manifest.format < 1 or not re.fullmatch(r"[0-9a-f]{32}", manifest.home):
            raise InvalidInput("its format or its home id is invalid")
        for name, file in manifest.files.items():
            if name not in FILE_NAMES:
                raise InvalidInput(f"it lists {name[:80]!r}, which is not a file of a backup")
            if file.bytes < 0 or not _HASH.fullmatch(file.sha256):
                raise InvalidInput(f"the size or the hash of {name} is invalid")
        for name in (LEDGER_FILE, KEYS_FILE):
            if name not in manifest.files:
                raise InvalidInput(f"it does not list {name}")

    def copy(self, target: Path, names: Sequence[str] = FILE_NAMES) -> None:
        """Copy the files into a directory and check them against the manifest.

        Raises:
            CorruptFile: a file is missing, or differs from the manifest.
        """
        for name in names:
            if (described := self.manifest.files.get(name)) is not None:
                self._copy(name, described, target / name)

    def _copy(self, name: str, described: BackedUpFile, target: Path) -> None:
        path = self.directory / name
        digest, remaining = hashlib.sha256(), described.bytes
        try:
            with _open_regular(path) as file, open(target, "xb", opener=opener) as copied:
                if os.fstat(file).st_size != described.bytes:
                    raise CorruptFile(_mismatch(path, "size"))
                while remaining and (chunk := os.read(file, min(remaining, _CHUNK))):
                    digest.update(chunk)
                    copied.write(chunk)
                    remaining -= len(chunk)
                copied.flush()
                os.fsync(copied.fileno())
        except FileNotFoundError:
            raise CorruptFile(f"{path} is missing; use another backup") from None
        if remaining or digest.hexdigest() != described.sha256:
            raise CorruptFile(_mismatch(path, "hash"))


def _mismatch(path: Path, property_: str) -> str:
    return f"the {property_} of {path} differs from the manifest; use another backup"


@contextmanager
def _open_regular(path: Path) -> Iterator[int]:
    """Open a regular file and yield its descriptor; reject symbolic links."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise CorruptFile(
                f"{path} is a symbolic link; a backup contains only regular files"
            ) from error
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CorruptFile(f"{path} is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)
