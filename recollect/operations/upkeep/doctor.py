"""`doctor`: checks of an installation and a home, with advice."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import apsw
import msgspec

from recollect.home.home_directory import Home
from recollect.home.home_swap import HomeSwap
from recollect.home.ledgers import on_kafka, open_ledger
from recollect.home.settings.configuration import Configuration
from recollect.operations.upkeep.unreadable_records import unreadable_records
from recollect.projections.disk_space import has_room, is_disk_full
from recollect.projections.embeddings.embeddings_file import vec0_version
from recollect.projections.file_permissions import world_accessible, writable
from recollect.projections.files import FILE_NAMES, ZoneFiles
from recollect.projections.generations import DEFAULT_AGENTS, ZoneDirectory, agents_of_zone
from recollect.projections.sqlite import connect, scalar
from recollect.schemas.errors import (
    HomeError,
    IntegrityError,
    MissingExtra,
    RecollectError,
    UpgradeRequired,
    install_command,
)
from recollect.schemas.text_sanitising import pluralise
from recollect.streams.deciding.registration import agents_named
from recollect.streams.encoder.loading import load
from recollect.streams.ledger.embedded_ledger import EmbeddedLedger
from recollect.streams.records.chain_readers import SealedReader
from recollect.streams.records.erased_keys import unexplained_missing_keys
from recollect.streams.system.extras import MODULES, is_installed, needed

_MIN_FREE_BYTES = 1 << 30
_BATCH_SIZE = 2_000
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "beegfs", "gpfs"}
    | {"fuse.sshfs", "fuse.glusterfs", "fuse.ceph-fuse", "fuse.s3fs", "fuse.rclone", "fuse.davfs"}
)
_MAX_SHOWN = 5


class Check(msgspec.Struct, frozen=True):
    """The result of one check; `fix` says what to do if it failed."""

    check: str
    ok: bool
    detail: str
    fix: str = ""


class _CheckFailed(Exception):
    """A failed check with advice of its own."""

    def __init__(self, detail: str, fix: str) -> None:
        super().__init__(detail)
        self.fix = fix


def examine(configuration: Configuration) -> list[Check]:
    """Check the installation and the configured home.

    If the home is not readable, nothing inside it is checked.
    """
    directory = configuration.home

    def check(name: str, run: Callable[[Path], str], fix: str) -> Check:
        return _run(name, lambda: run(directory), fix, directory)

    home = check("home", _home, "restore home.json from a backup")
    checks = [
        *_installation(),
        check("disk", _disk, f"free some space at {directory}, or move the home: nothing is lost"),
        home,
    ]
    if not home.ok:
        return checks
    opened = Home(directory, configuration)
    init = f"recollect --home {directory} init"
    checks += [
        check("file system", _file_system, "move the home to a local disk"),
        check("owner", _owner, "make one user the owner of all its files"),
        check("writable", _writable, ""),
        check("private", _private, f"run {init}, which makes its files private"),
        check("encoder", lambda _: _encoder(opened), f"run {init}, which installs it again"),
        check("agents", _agents, f"choose the agents with {init} --agents NAMES"),
        check("ledger", lambda _: _ledger(opened), "restore ledger.db and keys.db from a backup"),
        check("keys", lambda _: _keys(opened), "restore keys.db from a backup that has them"),
        check("zones", _zones, ""),
    ]
    if on_kafka(opened):
        fix = 'see "When something goes wrong" in docs/kafka.md'
        checks += [check("brokers", lambda _: _brokers(opened), fix), _records(opened)]
    return checks


def _installation() -> list[Check]:
    return [
        _run("python", _python, "install Python 3.11 or later"),
        _run("sqlite", _sqlite, "install apsw again from its wheel"),
        _run("sqlite-vec", vec0_version, "install sqlite-vec again from its wheel"),
        _run("onnxruntime", _onnxruntime, "install onnxruntime again"),
        _run("extras", _extras, ""),
    ]


def _run(name: str, run: Callable[[], str], fix: str, directory: Path | None = None) -> Check:
    """Run a check, which returns its detail or raises an error; `fix`: the advice if it fails."""
    try:
        return Check(name, True, run())
    except _CheckFailed as error:
        return Check(name, False, str(error), error.fix)
    except MissingExtra as error:
        return Check(name, False, str(error), install_command(error.extra))
    except (RecollectError, apsw.Error, OSError, ImportError, AssertionError) as error:
        detail = str(error) or type(error).__name__
        return Check(name, False, detail, _advice(error, directory) or fix)


def _advice(error: Exception, directory: Path | None) -> str | None:
    """Return the advice if a file is undamaged but could not be opened; None for other errors."""
    if directory is None:
        return None
    cannot_open = isinstance(error, apsw.CantOpenError | apsw.IOError | apsw.ReadOnlyError)
    number = error.errno if isinstance(error, OSError) else None
    if is_disk_full(error) or (cannot_open and not has_room(directory)):
        return f"free some space at {directory}, and try again: nothing is lost"
    if number in (errno.EACCES, errno.EPERM) or cannot_open:
        return _owner_advice(directory)
    return None


def _not_readable(directory: Path) -> _CheckFailed:
    return _CheckFailed(
        f"{directory} belongs to another user, and only that user may read it",
        _owner_advice(directory),
    )


def _owner_advice(directory: Path) -> str:
    try:
        owner = directory.stat().st_uid
    except PermissionError:
        return "run recollect as the user who owns it"
    return (
        f"run recollect as the user {owner}, who owns {directory}; if others own files in it, "
        f"run as root: chown -R {owner} {directory}"
    )


def _python() -> str:
    version = sys.version.split()[0]
    assert sys.version_info >= (3, 11), f"Python {version} is too old"
    if "musl" in str(sysconfig.get_config_var("SOABI")):
        raise _CheckFailed(
            f"Python {version} on musl, as on Alpine: onnxruntime and sqlite-vec have no wheels "
            "for it",
            "use a Python on glibc, such as that of Debian or of the image python:3.12-slim",
        )
    return version


def _onnxruntime() -> str:
    import onnxruntime

    return str(onnxruntime.__version__)


def _sqlite() -> str:
    assert "ENABLE_FTS5" in apsw.compile_options, "this SQLite has no FTS5"
    return f"{apsw.sqlite_lib_version()} with FTS5"


def _extras() -> str:
    installed = [extra for extra in MODULES if is_installed(extra)]
    commands = [install_command(extra) for extra in MODULES if extra not in installed]
    more = f"; to install the others: {', '.join(commands)}" if commands else ""
    return f"{', '.join(installed) or 'none'}{more}"


def _disk(directory: Path) -> str:
    place = directory
    while not os.path.exists(place):
        place = place.parent
    if directory.is_dir() and not writable(directory):
        return "the home is read-only"
    free = shutil.disk_usage(place).free
    if free < _MIN_FREE_BYTES:
        raise OSError(f"only {free >> 20} MiB are free at {place}")
    return f"{free >> 30} GiB free at {place}"


def _home(directory: Path) -> str:
    if HomeSwap(directory).interrupted:
        raise _CheckFailed(
            "a restore was interrupted at its last step",
            f"run recollect --home {directory} restore with the same backup again to finish it",
        )
    try:
        (directory / "home.json").stat()
    except (FileNotFoundError, NotADirectoryError):
        is_taken = directory.is_file() or (directory.is_dir() and any(directory.iterdir()))
        init = f"recollect --home {'DIR' if is_taken else directory} init"
        raise _CheckFailed(
            f"{directory} {'is not a home' if is_taken else 'does not exist'}",
            f"give the home's directory, or create a home: {init}",
        ) from None
    except PermissionError:
        raise _not_readable(directory) from None
    if not os.access(directory / "home.json", os.R_OK):
        raise _not_readable(directory)
    Home(directory)
    return str(directory)


def _file_system(directory: Path) -> str:
    kind = file_system_of(directory.resolve(), _MOUNTS)
    if kind in _NETWORK_FILE_SYSTEMS:
        raise _CheckFailed(
            f"{directory} is on {kind}, a network file system: SQLite's locks and its shared "
            "memory do not work there, and two processes may damage each other's files",
            "move the home to a local disk (copy it while no recollect runs), and back it up over "
            "the network",
        )
    return kind or "unknown on this system"


def file_system_of(path: Path, mounts: Path) -> str | None:
    """Return the file system type of a resolved path; None if it is unknown.

    `mounts`: /proc/self/mountinfo, or a file in its format.
    """
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    longest: tuple[int, str] | None = None
    for line in lines:
        # proc_pid_mountinfo(5): ID PARENT DEVICE ROOT MOUNT-POINT OPTIONS... - TYPE SOURCE OPTIONS
        before, _, after = line.partition(" - ")
        mounted = before.split()[4]
        point = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), mounted))
        # Of two mounts at one point, the later one hides the other.
        if path.is_relative_to(point) and (longest is None or len(point.parts) >= longest[0]):
            longest = len(point.parts), after.split()[0]
    return None if longest is None else longest[1]


def _owner(directory: Path) -> str:
    owner, user = directory.stat().st_uid, os.geteuid()
    others = [path for path in directory.rglob("*") if _owner_of(path) not in (None, owner)]
    if others:
        raise _CheckFailed(
            f"{directory} belongs to the user {owner}, but {len(others)} of its files belong to "
            f"others, such as {others[0]}",
            _owner_advice(directory),
        )
    if user == owner:
        return f"all files belong to the user {owner}, who runs this"
    return (
        f"all files belong to the user {owner}, but {user} runs this: to write, run recollect as "
        f"{owner}, who could not open files that another user creates there"
    )


def _owner_of(path: Path) -> int | None:
    try:
        return path.lstat().st_uid
    except FileNotFoundError:
        # Deleted meanwhile.
        return None


def _writable(directory: Path) -> str:
    if not writable(directory):
        return (
            "read-only: it answers queries and accepts no events; to write, remount it writable "
            f"(mount -o remount,rw), or run recollect as the user {directory.stat().st_uid}"
        )
    return "writable"


def _private(directory: Path) -> str:
    found = list(world_accessible(directory))
    if not found:
        return "readable by its owner only"
    # Normal for a home that an older version of recollect created.
    return (
        f"{len(found)} of its files can be read by users other than the owner, such as {found[0]}: "
        f"to make them private, run recollect --home {directory} init"
    )


def _encoder(home: Home) -> str:
    pins = home.settings.encoders
    if not pins:
        return "none, by choice"
    for pin in pins:
        # Not from the process-wide cache, so that the files on disk are checked.
        encoder = load(pin, cache=home.configuration.cache)
        vector = encoder.encode(["doctor"])[0]
        encoder.close()
        assert abs(float(vector @ vector) - 1) < 1e-3, f"{pin.model}: no vectors of length 1"
    encoders = "; ".join(f"{pin.model}, {pin.dimension} dimensions" for pin in pins)
    return f"{encoders}, from {home.configuration.cache}"


def _agents(directory: Path) -> str:
    names = Home(directory).settings.agents
    agents_named(names)
    for path in sorted((directory / "zones").glob("*")):
        # An unreadable generation is reported by the check of zones.
        with suppress(HomeError):
            generation = ZoneDirectory(path).current()
            decided_by = generation.agents
            configured = agents_of_zone(names, generation.consolidation)
            if decided_by != configured:
                raise _CheckFailed(
                    f"zone {path.name} was processed with the agents {','.join(decided_by)}, but "
                    f"the home is set to {','.join(configured)}: no further events are processed "
                    "in it",
                    f"recollect --home {directory} --zone {path.name} rebuild --level derive, or "
                    f"recollect --home {directory} init --agents {','.join(decided_by)}",
                )
    return "recollect's own" if names == DEFAULT_AGENTS else ", ".join(names)


def _ledger(home: Home) -> str:
    directory = home.directory
    names = [name for name in ("ledger.db", "keys.db") if (directory / name).exists()]
    if len(names) < 2:
        if on_kafka(home):
            return "on the brokers"
        # If a ledger was created and a file is missing, opening it raises an error.
        with closing(EmbeddedLedger(directory)):
            return "not created yet"
    for name in names:
        _check_file(directory / name)
    with closing(EmbeddedLedger(directory)):
        return f"{' and '.join(names)} are undamaged, and belong to this home"


def _keys(home: Home) -> str:
    if on_kafka(home):
        return "on the brokers; recollect verify compares them with the ledger"
    events, lost = 0, []
    with closing(EmbeddedLedger(home.directory)) as ledger:
        for zone in ledger.zones():
            reader = SealedReader(ledger, zone)
            missing: list[int] = []
            while accepted := reader.read_sealed(_BATCH_SIZE):
                events += len(accepted)
                present = ledger.keys.get([record.envelope.key_id for record in accepted])
                missing += [
                    record.envelope.number
                    for record in accepted
                    if record.envelope.key_id not in present
                ]
            reason = ""
            try:
                numbers = unexplained_missing_keys(ledger, zone, missing)
            except IntegrityError as error:
                # The key of an erasure command is missing, so its targets are unknown; such keys
                # are never destroyed on purpose.
                numbers, reason = missing, f": {error}"
            if numbers:
                more = " and more" if len(numbers) > _MAX_SHOWN else ""
                shown = ", ".join(map(str, numbers[:_MAX_SHOWN]))
                lost.append(f"{len(numbers)} of zone {zone} (event {shown}{more}){reason}")
    if lost:
        raise HomeError(
            "keys are missing that no erasure destroyed; events sealed with them are unreadable: "
            + "; ".join(lost)
        )
    return f"{pluralise(events, 'event')}: every key is present or was destroyed by an erasure"


def _records(home: Home) -> Check:
    """Check that every record on the brokers can be read, or is skipped."""
    name = "records"
    if not (home.directory / "copy").exists():
        return Check(name, True, "not used yet")
    try:
        with closing(open_ledger(home)) as ledger:
            zones = ledger.zones()
            unreadable = [record for zone in zones for record in unreadable_records(ledger, zone)]
    except (RecollectError, apsw.Error, OSError) as error:
        return Check(name, False, str(error), "see the check of the ledger")
    if not unreadable:
        return Check(name, True, f"{pluralise(len(zones), 'zone')}: every record can be read")
    shown = [str(record) for record in unreadable[:_MAX_SHOWN]]
    more = [f"and {len(unreadable) - len(shown)} more"] if len(unreadable) > len(shown) else []
    fixes = [record.fix for record in unreadable[:_MAX_SHOWN]]
    return Check(
        name,
        False,
        "; ".join([*shown, *more]),
        "if recollect never wrote this record, skip it: " + "; ".join(fixes),
    )


def _brokers(home: Home) -> str:
    with needed("kafka"):
        from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger

    if not (home.directory / "copy").exists():
        return "not used yet"
    with closing(open_ledger(home)) as ledger:
        assert isinstance(ledger, KafkaLedger)
        problems = [*ledger.durability_warnings()]
    if problems:
        raise HomeError("; ".join(problems))
    return "the topics have the settings that recollect needs"


def _zones(directory: Path) -> str:
    zones = sorted(path for path in (directory / "zones").glob("*") if path.is_dir())
    for path in zones:
        try:
            _check_zone(ZoneDirectory(path))
        except (RecollectError, apsw.Error, OSError) as error:
            rebuild = f"recollect --home {directory} --zone {path.name} rebuild"
            raise _CheckFailed(
                f"{path.name}: {error}",
                _advice(error, directory) or f"run {rebuild}, which recreates the file",
            ) from error
    return f"{pluralise(len(zones), 'zone')}: every file of the generation in use is undamaged"


def _check_zone(zone: ZoneDirectory) -> None:
    """Raise an error if a file of the generation in use is missing or damaged."""
    generation = zone.current()
    files = zone.directory(generation)
    for name in FILE_NAMES:
        _check_file(files / name)
    # Read-only files of an older recollect are upgraded in a copy before they are used.
    with (
        suppress(UpgradeRequired),
        ZoneFiles(files, generation.encoder, generation.dimension, readonly=True) as opened,
    ):
        opened.check()


def _check_file(path: Path) -> None:
    """Raise OSError if a database is missing, empty or damaged."""
    if not path.is_file() or not path.stat().st_size:
        raise OSError(f"{path} is {'empty' if path.is_file() else 'missing'}")
    try:
        with closing(connect(path, readonly=True)) as connection:
            verdict = scalar(connection, "PRAGMA quick_check(1)")
    except (apsw.CorruptError, apsw.NotADBError) as error:
        verdict = str(error)
    if verdict != "ok":
        raise OSError(f"{path}: {verdict}")
