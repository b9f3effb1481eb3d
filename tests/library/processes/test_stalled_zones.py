"""A zone is stalled if it has work, and no process does it; the list of zones says so, and why."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import apsw
import pytest

from recollect import Recollect
from recollect.home.settings.configuration import Configuration
from recollect.operations.upkeep.doctor import examine
from recollect.projections import sqlite
from tests.library.kit import said

#: Two minutes: longer than any process needs for these few records.
_EARLIER_MS = 120_000


def make_earlier(home: Path) -> None:
    """Move the arrival of all records, and all progress, two minutes back in the files."""
    at = (time.time_ns() // 1_000_000 - _EARLIER_MS,)
    with closing(sqlite3.connect(home / "ledger.db")) as database, database:
        database.execute("UPDATE events SET appended_at = ?", at)
    with closing(sqlite3.connect(home / "driver.db")) as database, database:
        database.execute("UPDATE moves SET at = ?", at)


def memory_file(home: Path, zone: str) -> Path:
    """Return the memory.db of a zone."""
    (found,) = (home / "zones" / zone).glob("g*/memory.db")
    return found


def damage(home: Path, zone: str) -> None:
    """Overwrite the memory.db of a zone, which no process has open."""
    memory_file(home, zone).write_bytes(b"x" * 4096)


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Let another process hold the lock for writing of a database."""
    hold = (
        "import sqlite3, sys; database = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "database.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold, str(database)]
    with Popen(command, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield
        process.stdin.close()


@pytest.mark.parametrize("decided_before", [False, True])
def test_a_zone_whose_records_wait_is_stalled(tmp_path: Path, decided_before: bool) -> None:
    home = tmp_path / "home"
    with Recollect(home, encoder=None) as opened:
        opened.zone("idle").ingest(said("m1", "I live in Turin."))
        if decided_before:
            opened.zone("busy").ingest(said("m1", "I live in Turin."))
        opened.zone("busy").ingest(said("m2", "I live in Oslo."), wait=False)
        assert [each.stalled for each in opened.zone_summaries()] == [False, False]
    make_earlier(home)
    with Recollect(home) as opened:
        assert {each.zone: each.stalled for each in opened.zone_summaries()} == {
            "busy": True,
            "idle": False,
        }
        assert opened.zone("busy").status().stalled
        assert not opened.zone("idle").status().stalled
        # Somebody does it.
        opened.zone("busy").ingest(said("m3", "I moved to Lima."))
        assert [each.stalled for each in opened.zone_summaries()] == [False, False]


def test_a_zone_with_a_damaged_file_is_listed_as_stalled_with_the_cause(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Recollect(home, encoder=None) as opened:
        for name in ("torn", "whole"):
            opened.zone(name).ingest(said("m1", "I live in Turin."))
        opened.zone("torn").ingest(said("m2", "I live in Oslo."), wait=False)
    damage(home, "torn")
    with Recollect(home) as opened:
        torn, whole = opened.zone_summaries()
        assert (torn.zone, torn.events, torn.stalled) == ("torn", 2, True)
        assert "damaged" in (torn.problem or "")
        assert "recollect rebuild" in (torn.problem or "")
        assert str(home) not in (torn.problem or "")
        assert (whole.zone, whole.stalled, whole.problem) == ("whole", False, None)
        opened.zone("torn").rebuild()
        assert [each.problem for each in opened.zone_summaries()] == [None, None]


def test_doctor_names_the_zone_with_a_damaged_file(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Recollect(home, encoder=None) as opened:
        for name in ("torn", "whole"):
            opened.zone(name).ingest(said("m1", "I live in Turin."))
    damage(home, "torn")
    (check,) = (each for each in examine(Configuration(home)) if each.check == "zones")
    assert not check.ok
    assert "memory.db" in check.detail
    assert "--zone torn rebuild" in check.fix


def test_the_status_says_why_this_process_cannot_process_a_zone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 1)
    home = tmp_path / "home"
    with Recollect(home, encoder=None) as opened:
        node = opened._open_home.node
        zone = opened.zone("ada")
        zone.ingest(said("m1", "I live in Turin."))
        zone.ingest(said("m2", "I live in Oslo."), wait=False)
        with locked(memory_file(home, "ada")):
            with pytest.raises(apsw.BusyError):
                node.drive("ada")
            assert "another process has locked a file" in (zone.status().problem or "")
        node.drive("ada")
        assert zone.status().problem is None
