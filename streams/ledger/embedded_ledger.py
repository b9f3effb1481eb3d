"""The ledger of one machine: SQLite files with the topics, partitions and offsets of Kafka."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.file_permissions import make_directory, read_only, require_writable
from recollect.projections.generations import replace_file
from recollect.projections.migrations import Migrations
from recollect.projections.scrubbing import scrub
from recollect.projections.sqlite import (
    atomic,
    connect,
    copy_standalone,
    rows,
    scalar,
    snapshot_connection,
)
from recollect.schemas.errors import Busy, CorruptFile, IntegrityError
from recollect.schemas.events import Draft
from recollect.schemas.ledger.records import Envelope
from recollect.schemas.ledger.seal import KEY_BYTES, new_key
from recollect.schemas.wire import Receipt
from recollect.schemas.zones import check_zone
from recollect.streams.ledger.ledger import CHANGES, EVENTS, Head, KeyStore, Ledger, Record
from recollect.streams.ledger.ledger_file import MIGRATIONS as LEDGER_MIGRATIONS
from recollect.streams.ledger.ledger_file import Appended, LedgerFile
from recollect.streams.ledger.partitioner import partition_of
from recollect.streams.ledger.sequencer import KnownEvent, known_event, sequence
from recollect.streams.system.failpoints import failpoint
from recollect.streams.system.locks import exclusive, shared

#: The files of the ledger.
LEDGER_FILE, KEYS_FILE, IDENTITY_FILE = "ledger.db", "keys.db", "ledger.json"
#: Lock file: shared by users of the ledger, exclusive for a restore.
IN_USE_LOCK = "home.lock"

_POLL_INTERVAL_SECONDS = 0.02
_BATCH_SIZE = 500

_KEYS_MIGRATIONS = Migrations(Path(__file__).parent / "migrations" / "keys")


class EmbeddedKeys(KeyStore):
    """The keys in keys.db.

    They are stored apart from the ledger, so that a copy of the ledger alone cannot restore erased
    text.
    """

    def __init__(
        self, path: Path | str, *, readonly: bool = False, secret: bytes | None = None
    ) -> None:
        """`secret`: the secret of a new file; None: a random one."""
        self._lock = threading.RLock()
        self._connection = connect(path, durable=True, readonly=readonly)
        if readonly:
            _KEYS_MIGRATIONS.version(self._connection, Path(path))
        else:
            _KEYS_MIGRATIONS.migrate(self._connection, Path(path))
            if self._stored("source") is None:
                self._store("source", secret or new_key()[1])
        stored = self._stored("source")
        assert stored is not None
        assert len(stored) == KEY_BYTES
        self._secret = stored

    def _store(self, name: str, secret: bytes) -> None:
        self._connection.execute("INSERT OR IGNORE INTO secrets VALUES (?, ?)", (name, secret))

    def _stored(self, name: str) -> bytes | None:
        found: bytes | None = scalar(
            self._connection, "SELECT value FROM secrets WHERE name = ?", (name,)
        )
        return found

    def identity(self) -> bytes | None:
        """Return the id of the home that the file belongs to, or None if it records none."""
        with self._lock:
            return self._stored("home")

    def identify(self, home: bytes) -> None:
        """Record which home the file belongs to."""
        with self._lock:
            self._store("home", home)

    @property
    def secret(self) -> bytes:
        return self._secret

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        keys: dict[bytes, bytes] = {}
        with self._lock:
            for start in range(0, len(key_ids), _BATCH_SIZE):
                batch = key_ids[start : start + _BATCH_SIZE]
                marks = ", ".join("?" * len(batch))
                keys.update(
                    rows(
                        self._connection,
                        f"SELECT key_id, key FROM keys WHERE key_id IN ({marks})",
                        batch,
                    )
                )
        return keys

    def add(self, keys: Mapping[bytes, bytes]) -> None:
        with self._lock, atomic(self._connection):
            self._connection.executemany(
                "INSERT OR IGNORE INTO keys VALUES (?, ?)", list(keys.items())
            )

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        with self._lock:
            with atomic(self._connection):
                self._connection.executemany(
                    "DELETE FROM keys WHERE key_id = ?", [(key_id,) for key_id in key_ids]
                )
            if not scrub(self._connection):
                raise apsw.BusyError(
                    "destroyed keys remain in the write-ahead log of keys.db while another process "
                    "reads it; end that process and try again"
                )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


class _Identity(msgspec.Struct, frozen=True):
    """The content of ledger.json.

    `home`: the home's id in hex, which is also in ledger.db and keys.db. `made`: both files exist
    and may hold events.
    """

    home: str
    made: bool


class _Files(NamedTuple):
    """Both files; `readonly`: they were opened on a read-only or full disk."""

    ledger: LedgerFile
    keys: EmbeddedKeys
    readonly: bool = False


class EmbeddedLedger(Ledger):
    """ledger.db and keys.db in a home directory, shared by any number of processes.

    The first record creates the files. Before that, every read answers as if they were empty; from
    then on both must exist. A pickle contains only what is needed to open the files again.

    Raises:
        CorruptFile: a file is missing, or belongs to another home.
        Busy: a restore of the home is running.
    """

    def __init__(self, directory: Path, keys: Callable[..., EmbeddedKeys] = EmbeddedKeys) -> None:
        self._directory = directory
        self._open_keys = keys
        self._opening = threading.RLock()
        self._files: _Files | None = None
        self._empty: _Files | None = None
        self._replaced: list[_Files] = []
        self._appended = _condition_of(directory / LEDGER_FILE)
        self._in_use = ExitStack()
        with ExitStack() as opening:
            if directory.is_dir():
                opening.enter_context(_in_use(directory))
            self._open()
            self._in_use = opening.pop_all()

    def __reduce__(self) -> tuple[type[EmbeddedLedger], tuple[object, ...]]:
        return type(self), (self._directory, self._open_keys)

    @property
    def _file(self) -> LedgerFile:
        return self._open().ledger

    @property
    def keys(self) -> EmbeddedKeys:
        return self._open().keys

    def _open(self) -> _Files:
        """Return the files, or empty ones in memory until some process has created them."""
        if self._files is not None and not self._is_writable_again(self._files):
            return self._files
        with self._opening:
            if self._files is not None and self._is_writable_again(self._files):
                # They stay open, since another thread may be reading from them.
                self._replaced.append(self._files)
                self._files = None
            if self._files is None and is_created(self._directory):
                self._files = self._open_existing()
            if self._files is None and self._empty is None:
                self._empty = _Files(
                    LedgerFile(":memory:", durable=False), self._open_keys(":memory:")
                )
            files = self._files or self._empty
        assert files is not None
        return files

    def _is_writable_again(self, files: _Files) -> bool:
        """Whether files that were opened read-only have become writable."""
        return files.readonly and not read_only(self._directory)

    def _open_existing(self) -> _Files:
        if read_only(self._directory):
            return self._open_checked(readonly=True)
        # If two processes switch a new file to WAL at once, SQLite does not wait: one fails.
        with exclusive(self._directory / "ledger.lock"):
            files = self._open_checked(readonly=False)
            if _read_identity(self._directory) is None:
                # An older recollect created the files without ledger.json.
                home = files.keys.identity() or files.ledger.identity() or new_key()[0]
                _identify(files, home)
                self._write_identity(home, made=True)
            return files

    def create(self) -> None:
        """Create the files if they do not exist yet; appending the first record does this too.

        Raises:
            HomeError: the directory cannot be written to.
        """
        require_writable(self._directory)
        self._open()
        if self._files is not None:
            return
        make_directory(self._directory)
        with exclusive(self._directory / "ledger.lock"):
            if not is_created(self._directory):
                # A process that was killed here may have left some of the files; they are empty.
                identity = _read_identity(self._directory)
                home = new_key()[0] if identity is None else bytes.fromhex(identity.home)
                self._write_identity(home, made=False)
                failpoint("ledger.begun")
                keys = self._open_keys(self._directory / KEYS_FILE)
                ledger = LedgerFile(self._directory / LEDGER_FILE, durable=True)
                _identify(_Files(ledger, keys), home)
                keys.close()
                ledger.close()
                failpoint("ledger.made")
                self._write_identity(home, made=True)

    def _write_identity(self, home: bytes, *, made: bool) -> None:
        identity = _Identity(home.hex(), made)
        replace_file(self._directory / IDENTITY_FILE, msgspec.json.encode(identity) + b"\n")

    def _open_checked(self, *, readonly: bool) -> _Files:
        """Open both files, and check that they belong to this home."""
        _require(self._directory)
        keys = self._open_keys(self._directory / KEYS_FILE, readonly=readonly)
        ledger = LedgerFile(self._directory / LEDGER_FILE, durable=True, readonly=readonly)
        identities = {LEDGER_FILE: ledger.identity(), KEYS_FILE: keys.identity()}
        identity = _read_identity(self._directory)
        # A file that records no home may belong to this one.
        own_home = bytes.fromhex(identity.home) if identity else identities[LEDGER_FILE]
        foreign = [
            name
            for name, home in identities.items()
            if None not in (home, own_home) and home != own_home
        ]
        if not foreign:
            return _Files(ledger, keys, readonly=readonly)
        keys.close()
        ledger.close()
        raise CorruptFile(
            f"{' and '.join(str(self._directory / name) for name in foreign)} belongs to another "
            f"home: restore {LEDGER_FILE}, {KEYS_FILE} and {IDENTITY_FILE} from one backup of this "
            "home"
        )

    def publish(self, zone: str, drafts: Sequence[Draft]) -> list[Receipt]:
        check_zone(zone)
        if not drafts:
            return []
        self.create()
        now = _now()
        with self._file.writing():
            receipts, records, _ = sequence(
                zone,
                drafts,
                self._file.chain_end(zone),
                secret=self.keys.secret,
                now=now,
                find_known=lambda source: self._known_event(zone, source),
            )
            if records:
                self.keys.add({record.key_id: record.key for record in records})
                failpoint("append.keys")
                self._append(EVENTS, zone, [record.value for record in records], now)
        self._notify()
        failpoint("append.committed")
        return receipts

    def append(self, topic: str, zone: str, values: Sequence[bytes]) -> None:
        self.create()
        with self._file.writing():
            self._append(topic, check_zone(zone), values, _now())
        self._notify()

    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        return self._file.read(topic, partition, offset, limit, zone)

    def end(self, topic: str, partition: int) -> int:
        return self._file.end(topic, partition)

    def appended_at(self, topic: str, partition: int, offset: int) -> int | None:
        return self._file.appended_at(topic, partition, offset)

    def zones(self) -> list[str]:
        return self._file.zones()

    def head(self, zone: str) -> Head:
        return self._file.head(zone)

    def seek(self, zone: str, number: int) -> tuple[int, int, bytes]:
        return self._file.seek(zone, number)

    def events_of_kind(self, zone: str, kind: str, offset: int) -> list[Record]:
        return self._file.events_of_kind(zone, kind, offset)

    def event_of_source(self, zone: str, source: bytes) -> bytes | None:
        return self._file.event_of_source(zone, source)

    def platforms(self, zone: str) -> list[str]:
        return self._file.platforms(zone)

    def check(self, zone: str, events: Sequence[tuple[int, Envelope]], head: Head) -> list[str]:
        return self._file.check(zone, events, head)

    def reclaim(
        self, zone: str, offsets: Sequence[int], record: bytes, replay: Callable[[], object]
    ) -> int:
        """Replace change records of a zone by `record`; return the number of freed bytes.

        `replay` returns what must stay the same. It runs before and after the replacement, inside
        one transaction.

        Raises:
            IntegrityError: `replay` returned something else afterwards, so nothing was replaced.
        """
        if offsets:
            with self._file.writing():
                before = replay()
                self._file.replace(CHANGES, partition_of(zone), offsets, record)
                if replay() != before:
                    raise IntegrityError(
                        f"zone {zone}: a replay without the unneeded chains differs, "
                        "so nothing was reclaimed; run recollect verify"
                    )
        return self._file.compact()

    def wait(
        self,
        ends: Mapping[tuple[str, int], int],
        timeout: float,
        stopped: threading.Event | None = None,
    ) -> bool:
        deadline = time.monotonic() + timeout
        seen: tuple[LedgerFile, int] | None = None
        while True:
            file = self._file
            connection = file.connection
            with file.lock:
                # The pragma reads the file; Connection.data_version() would read the last snapshot.
                ((others,),) = connection.execute("PRAGMA data_version")
                version = (file, others + connection.total_changes())
                if version != seen:
                    seen = version
                    if any(self.end(*tp) > end for tp, end in ends.items()):
                        return True
            left = deadline - time.monotonic()
            if left <= 0 or (stopped is not None and stopped.is_set()):
                return False
            with self._appended:
                self._appended.wait(min(left, _POLL_INTERVAL_SECONDS))

    def close(self) -> None:
        for files in (self._empty, self._files, *self._replaced):
            if files is not None:
                files.ledger.close()
                files.keys.close()
        self._in_use.close()

    def copy_files(self, directory: Path) -> None:
        """Copy a consistent snapshot of ledger.db and keys.db into a directory.

        Writers wait only while both files are pinned, not while they are copied.
        """
        self.create()
        with ExitStack() as ledger_pinned, ExitStack() as keys_pinned:
            with self._file.writing():
                ledger = ledger_pinned.enter_context(
                    snapshot_connection(self._directory / LEDGER_FILE)
                )
                keys = keys_pinned.enter_context(snapshot_connection(self._directory / KEYS_FILE))
            # keys.db comes first, because it is small and erasures wait while it is pinned.
            copy_standalone(keys, directory / KEYS_FILE)
            keys_pinned.close()
            copy_standalone(ledger, directory / LEDGER_FILE)

    def _append(self, topic: str, zone: str, values: Sequence[bytes], at: int) -> None:
        partition = partition_of(zone)
        self._file.write(
            topic,
            partition,
            self._file.end(topic, partition),
            [Appended(zone, value, at) for value in values],
        )

    def _known_event(self, zone: str, source: bytes) -> KnownEvent | None:
        record = self._file.event_of_source(zone, source)
        return None if record is None else known_event(record, self.keys)

    def _notify(self) -> None:
        with self._appended:
            self._appended.notify_all()


def _identify(files: _Files, home: bytes) -> None:
    for file in (files.ledger, files.keys):
        if file.identity() is None:
            file.identify(home)


def is_created(directory: Path) -> bool:
    """Return whether a home's ledger was ever created, even if its files are missing now.

    An older recollect wrote no ledger.json. Its homes have the files, or zones projected from them.
    """
    identity = _read_identity(directory)
    if identity is not None:
        return identity.made
    return any((directory / name).exists() for name in (LEDGER_FILE, KEYS_FILE, "zones"))


def home_id(directory: Path) -> str | None:
    """Return the id of the home whose ledger is in a directory, or None.

    Raises:
        CorruptFile: ledger.json cannot be read.
    """
    identity = _read_identity(directory)
    return identity.home if identity is not None and identity.made else None


def write_identity(directory: Path, home: str) -> None:
    """Write ledger.json, which records that the directory holds the ledger of this home."""
    replace_file(directory / IDENTITY_FILE, msgspec.json.encode(_Identity(home, True)) + b"\n")


def check_layout(directory: Path) -> None:
    """Check that ledger.db and keys.db hold only recollect's tables and indexes.

    Raises:
        CorruptFile: one holds something else, such as a trigger or a view.
    """
    for name, migrations in ((LEDGER_FILE, LEDGER_MIGRATIONS), (KEYS_FILE, _KEYS_MIGRATIONS)):
        with snapshot_connection(directory / name) as connection:
            migrations.version(connection, directory / name)
            schema = rows(
                connection, "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
            )
        for kind, called in schema:
            if kind != "index" and (kind != "table" or called not in migrations.tables):
                raise CorruptFile(
                    f"{name} contains a {kind} {called[:80]!r}, which recollect never creates; "
                    "restore a backup"
                )


@contextmanager
def _in_use(directory: Path) -> Iterator[None]:
    try:
        with shared(directory / IN_USE_LOCK):
            yield
    except Busy:
        raise Busy(f"{directory} is being restored: wait for that to end, then try again") from None


def _read_identity(directory: Path) -> _Identity | None:
    path = directory / IDENTITY_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Identity)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptFile(
            f"{path} cannot be read ({error}); delete it if {LEDGER_FILE} and {KEYS_FILE} are "
            "those of this home"
        ) from None


def _require(directory: Path) -> None:
    """Raise if a file of the ledger is missing, because SQLite would create an empty one."""
    for name in (LEDGER_FILE, KEYS_FILE):
        if not (directory / name).is_file():
            raise CorruptFile(
                f"{directory / name} is missing, and nothing can be read or written without it: "
                f"restore {LEDGER_FILE} and {KEYS_FILE} from a backup, or name the ledger that "
                "this home uses (RECOLLECT_LEDGER)"
            )


_conditions: dict[Path, threading.Condition] = {}
_conditions_lock = threading.Lock()


def _condition_of(path: Path) -> threading.Condition:
    """Return the condition that wakes the readers of a ledger file inside this process."""
    with _conditions_lock:
        return _conditions.setdefault(path.resolve(), threading.Condition())


def _now() -> int:
    return time.time_ns() // 1_000_000
