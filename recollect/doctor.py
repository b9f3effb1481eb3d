"""The doctor: what may be wrong with an installation or a home, and what to do about it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import msgspec
import onnxruntime
import sqlite_vec

from projections.files import ZoneFiles
from projections.generations import ZoneDirectory
from projections.private import exposed
from projections.sqlite import connect, value
from recollect.home import Home, cache_directory
from recollect.ledgers import on_kafka, open_ledger
from schemas.errors import HomeError, RecollectError
from streams.ledger.kafka import KafkaLedger

_LEAST_FREE = 1 << 30


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at; `fix` says what to do where it is not well."""

    check: str
    ok: bool
    detail: str
    fix: str = ""


def examine(directory: Path) -> list[Check]:
    """Return what was found about the installation and the home in `directory`."""
    return [
        _try("python", _python, "install Python 3.11 or later"),
        _try("sqlite", _sqlite, "install apsw again from its wheel"),
        _try("sqlite-vec", _vectors, "install sqlite-vec again from its wheel"),
        _try("onnxruntime", lambda: str(onnxruntime.__version__), "install onnxruntime again"),
        _try("disk", lambda: _disk(directory), "free some space, or move the home"),
        _try("home", lambda: _home(directory), f"recollect --home {directory} init"),
        _try("private", lambda: _private(directory), "recollect init takes it from the others"),
        _try("encoder", lambda: _encoder(directory), "recollect init brings it again"),
        _try("ledger", lambda: _ledger(directory), "restore ledger.db and keys.db from a backup"),
        _try("zones", lambda: _zones(directory), "recollect --zone NAME rebuild makes it again"),
        *(
            [_try("brokers", lambda: _brokers(directory), "see docs/kafka.md, what survives what")]
            if on_kafka()
            else []
        ),
    ]


def _try(name: str, look: Callable[[], str], fix: str) -> Check:
    try:
        return Check(name, True, look())
    except (RecollectError, apsw.Error, OSError, ImportError, AssertionError) as error:
        return Check(name, False, str(error) or type(error).__name__, fix)


def _python() -> str:
    assert sys.version_info >= (3, 11), f"Python {sys.version.split()[0]} is too old"
    return sys.version.split()[0]


def _sqlite() -> str:
    assert "ENABLE_FTS5" in apsw.compile_options, "this SQLite has no FTS5"
    return f"{apsw.sqlite_lib_version()} with FTS5"


def _vectors() -> str:
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    ((version,),) = connection.execute("SELECT vec_version()").fetchall()
    return str(version)


def _disk(directory: Path) -> str:
    place = directory
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < _LEAST_FREE:
        raise OSError(f"only {free >> 20} MiB are free at {place}")
    return f"{free >> 30} GiB free at {place}"


def _home(directory: Path) -> str:
    Home(directory)
    return str(directory)


def _private(directory: Path) -> str:
    Home(directory)
    found = list(exposed(directory))
    if not found:
        return "its owner's alone"
    # A home of an older recollect is no less whole for it.
    return (
        f"{len(found)} of its files may be read by others than their owner, such as {found[0]}: "
        f"recollect --home {directory} init makes them private"
    )


def _encoder(directory: Path) -> str:
    pin = Home(directory).settings.encoder
    if pin is None:
        return "none, by choice"
    encoder = Home(directory).load_encoder()
    vector = encoder.encode(["doctor"])[0]
    encoder.close()
    assert abs(float(vector @ vector) - 1) < 1e-3, "its vectors are not of length 1"
    return f"{pin.model}, {pin.dimension} dimensions, from {cache_directory()}"


def _ledger(directory: Path) -> str:
    Home(directory)
    names = [name for name in ("ledger.db", "keys.db") if (directory / name).exists()]
    if len(names) < 2:
        assert not names, f"only {names[0]} is there, and each is of no use without the other"
        return "not made yet"
    for name in names:
        _whole(directory / name)
    return f"{' and '.join(names)} are whole"


def _brokers(directory: Path) -> str:
    home = Home(directory)
    if not (directory / "copy").exists():
        return "not used yet"
    with closing(open_ledger(home)) as ledger:
        assert isinstance(ledger, KafkaLedger)
        problems = [*ledger.safety()]
    if problems:
        raise HomeError("; ".join(problems))
    return "the topics are set as recollect needs them"


def _zones(directory: Path) -> str:
    Home(directory)
    zones = sorted(path for path in (directory / "zones").glob("*") if path.is_dir())
    for path in zones:
        zone = ZoneDirectory(path)
        files = zone.directory(zone.current())
        for name in ("events", "memory", "identity", "embeddings"):
            _whole(files / f"{name}.db")
        generation = zone.current()
        with ZoneFiles(files, generation.encoder, generation.dimension, readonly=True) as opened:
            opened.check()
    return f"{len(zones)} zones, every file of the generation in use is whole"


def _whole(path: Path) -> None:
    if not path.is_file() or not path.stat().st_size:
        raise OSError(f"{path} is {'empty' if path.is_file() else 'missing'}")
    connection = connect(path, readonly=True)
    try:
        verdict = value(connection, "PRAGMA quick_check(1)")
    except apsw.Error as error:
        verdict = str(error)
    finally:
        connection.close()
    if verdict != "ok":
        raise OSError(f"{path}: {verdict}")
