"""A backup or a restore that dies, or finds no room, leaves one whole home: the old or the new."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.streams.system.failpoints import FAILPOINTS
from tests.backup.kit import WORDS, Homes, line, tree

ROOT = Path(__file__).resolve().parents[2]
RESTORING = [name for name in FAILPOINTS if name.startswith("restore.")]
#: From here on the restored home counts.
COUNTS = RESTORING.index("restore.committed")
AT_THE_TURN = RESTORING[COUNTS - 1 : COUNTS + 1]

# No file may have more than so many bytes.
NO_ROOM = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from recollect.cli.app import run
sys.exit(run(sys.argv[2:]))
"""


def died(homes: Homes, *arguments: str, at: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "--home", str(homes.home), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "RECOLLECT_FAILPOINT": at},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.parametrize(
    "place",
    # The last moment of the old home and the first of the new one, and with `slow` all others.
    [
        pytest.param(place, id=name, marks=() if name in AT_THE_TURN else pytest.mark.slow)
        for place, name in enumerate(RESTORING)
    ],
)
def test_a_restore_that_is_killed_leaves_one_whole_home_and_is_ended_by_the_next(
    homes: Homes, place: int
) -> None:
    homes.ingest(line("n-1", "Ada has a sepavukolimuk."))
    homes.well("forget", "m-1", "--yes")
    old = homes.whole()["models"]
    died(homes, "restore", str(homes.backup), "--lose-newer", at=RESTORING[place])
    if place < COUNTS:
        # Nothing has happened, and the home can be used.
        assert (homes.home / "restoring" / "new" / "keys.db").exists()
        assert homes.whole()["models"] == old
        # The copied keys, which open what was forgotten, are gone with the next command.
        assert not (homes.home / "restoring").exists()
        assert "n-1" in homes.contents()
        assert homes.ingest(line("n-2", "Ben has a sepavukolimuk."))["new"] == 1
        report = homes.restored("--lose-newer")
        assert (report["resumed"], report["events_lost"]) == (False, 2)
    else:
        # Nobody takes it for a home, and nobody makes one there.
        assert "restore" in homes.run("doctor").out
        for command in (["status"], ["recall", "sepavukolimuk"], ["init", "--encoder", "none"]):
            ended = homes.run(*command)
            assert ended.status == 2, command
            assert "was interrupted" in ended.err
        report = homes.restored()
        assert (report["resumed"], report["events_lost"], report["forgotten"]) == (True, 1, 1)
    assert homes.traces(WORDS["m-1"], "sepavukolimuk") == []
    assert set(homes.contents()) == {"m-2", "m-3", "m-4", "m-5", "m-6", "m-7", "m-7e", "m-8", "m-9"}


def test_another_backup_is_restored_over_one_that_was_interrupted(homes: Homes) -> None:
    homes.well("forget", "m-1", "--yes")
    homes.well("backup", str(homes.room / "later"))
    homes.well("forget", "m-4", "--yes")
    died(homes, "restore", str(homes.backup), at="restore.emptied")
    # What the old home knew is known by the one that was restored in its place.
    report = homes.restored(path=homes.room / "later")
    assert report["resumed"] is False
    assert homes.traces(WORDS["m-1"], WORDS["m-4"]) == []


@pytest.mark.slow
def test_into_an_empty_directory_it_is_the_same(homes: Homes) -> None:
    for place, name in enumerate(RESTORING):
        there = homes.other(f"there-{place}")
        died(there, "restore", str(homes.backup), at=name)
        assert there.run("status").status == 2
        there.restored()
        assert there.contents() == homes.contents()


@pytest.mark.parametrize("most", [0, 4_096, 16_384])
def test_without_room_a_backup_says_so_and_leaves_nothing(homes: Homes, most: int) -> None:
    before = tree(homes.home)
    ended = without_room(homes, most, "backup", str(homes.room / "full"))
    assert ended.returncode == 1, ended.stderr
    assert b"recollect: " in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert not (homes.room / "full").exists()
    assert not list(homes.room.glob(".recollect-backup-*"))
    assert tree(homes.home) == before


@pytest.mark.parametrize("most", [0, 4_096, 16_384, 65_536])
def test_without_room_a_restore_says_so_and_changes_nothing(homes: Homes, most: int) -> None:
    homes.well("forget", "m-1", "--yes")
    before = tree(homes.home)
    ended = without_room(homes, most, "restore", str(homes.backup))
    assert ended.returncode == 1, ended.stderr
    assert b"recollect: " in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert tree(homes.home) == before
    assert not (homes.home / "restoring").exists()
    homes.whole()


def without_room(homes: Homes, most: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", NO_ROOM, str(most), "--home", str(homes.home), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
