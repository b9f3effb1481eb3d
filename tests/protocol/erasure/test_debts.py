"""Who dies in an erasure leaves a debt in the files themselves; whoever comes next pays it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

import pytest

from recollect.projections.sqlite import connect
from recollect.schemas.errors import InjectedFailure
from recollect.streams.engine.node import Node
from recollect.streams.lifecycle.rebuilding import rebuild, rollback
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.records.timeline import Timeline
from recollect.streams.system import failpoints
from tests.protocol.kit import ZONE, Home, files_holding, forget, in_memory, say

#: A word that nothing else holds, as a file may hold it.
WORD = b"Zanzibar"
SECRET = say("Ada lives in Zanzibar.", "1")
OTHERS = [say("Ben works at Initech.", "2", by="Ben"), say("Cleo likes tea.", "3", by="Cleo")]

DEATHS = [
    "commit.keys_destroyed",
    "commit.memory",
    "commit.identity",
    "commit.embeddings",
    "commit.purged",
    "purge.done",
]


@pytest.fixture
def home() -> Iterator[Home]:
    """A home whose secret stands in the files in use, in kept ones and in a past moment."""
    with in_memory() as path:
        made = Home(path / "home")
        made.tell(SECRET, *OTHERS)
        rebuild(made.node, ZONE, "project")
        timeline = Timeline(made.ledger, ZONE)
        timeline.refresh()
        made.node.open_snapshot(ZONE, timeline, made.node.snapshot(ZONE, timeline, 2)).close()
        made.restart()
        held = {name.split("/")[2] for name in files_holding(made.path, WORD)}
        assert held == {"g000001", "g000002", "past"}
        yield made
        made.close()


def die(home: Home, at: str) -> None:
    """Forget the secret, and die at a failpoint; what driver.db knew then is lost with a power cut.

    The files of the zone keep what they committed, the journal falls back.
    """
    home.close()
    before = home.path.parent / "driver.db"
    shutil.copyfile(home.path / "driver.db", before)
    home.open()
    failpoints.arm(at)
    with suppress(InjectedFailure):
        home.tell(forget(1))
        pytest.fail(f"{at} is not passed")
    failpoints.disarm()
    home.close()
    for path in home.path.glob("driver.db*"):
        path.unlink()
    shutil.copyfile(before, home.path / "driver.db")
    home.open()


def drive(node: Node) -> None:
    node.drive(ZONE)


def follow(node: Node) -> None:
    node.follow(ZONE)


def project(node: Node) -> None:
    node.project_turns(ZONE)


@pytest.mark.parametrize("next_", [drive, follow])
@pytest.mark.parametrize("at", DEATHS)
def test_whoever_drives_or_follows_next_leaves_no_trace(
    home: Home, at: str, next_: Callable[[Node], None]
) -> None:
    die(home, at)
    next_(home.node)
    assert files_holding(home.path, WORD) == []
    assert not home.node.is_purge_pending(ZONE)
    home.restart()
    assert files_holding(home.path, WORD) == []
    assert verify(home.node, ZONE).ok


@pytest.mark.parametrize("at", ["commit.purged", "purge.done"])
def test_whoever_asks_next_leaves_no_trace(home: Home, at: str) -> None:
    """`recall` and `status` project; what is decided already needs no driver."""
    die(home, at)
    assert home.node.is_purge_pending(ZONE)
    project(home.node)
    assert files_holding(home.path, WORD) == []
    assert not home.node.is_purge_pending(ZONE)


def test_who_asks_does_not_decide_what_waits(home: Home) -> None:
    die(home, "commit.purged")
    home.publish(say("Dora lives in Rome.", "4", by="Dora"))
    before = len(home.changes())
    project(home.node)
    assert len(home.changes()) == before
    home.drive()
    assert files_holding(home.path, WORD) == []


def test_a_death_after_a_rebuild_went_past_the_erasure_is_found_too(home: Home) -> None:
    home.tell(forget(1))
    failpoints.arm("rebuild.switched")
    with pytest.raises(InjectedFailure):
        rebuild(home.node, ZONE, "project")
    failpoints.disarm()
    home.restart()
    home.drive()
    assert not home.node.is_purge_pending(ZONE)
    assert files_holding(home.path, WORD) == []


@pytest.mark.parametrize("level", ["project", "derive"])
def test_after_a_rebuild_and_after_a_rollback_nothing_is_owed(home: Home, level: str) -> None:
    home.tell(forget(1))
    rebuild(home.node, ZONE, level)  # type: ignore[arg-type]
    assert not home.node.is_purge_pending(ZONE)
    rollback(home.node, ZONE)
    assert not home.node.is_purge_pending(ZONE)
    assert files_holding(home.path, WORD) == []


def test_a_reader_in_the_way_keeps_the_debt_open(home: Home) -> None:
    """It stays until the log could be emptied, however often somebody tries."""
    with home.files() as files:
        path = files.memory.path
    with closing(connect(path, readonly=True)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM facts").fetchall()
        with home.files() as files:
            for model in files.all:
                model.connection.set_busy_timeout(1)
        home.tell(forget(1))
        assert home.node.is_purge_pending(ZONE)
        reader.execute("ROLLBACK")
    home.restart()
    project(home.node)
    assert not home.node.is_purge_pending(ZONE)
    assert files_holding(home.path, WORD) == []


def test_a_debt_that_the_build_before_wrote_into_its_journal_is_paid(home: Home) -> None:
    die(home, "commit.purged")
    # As it left it: nothing in the files, a row in driver.db.
    with home.files() as files:
        files.clear_purge_pending()
    home.close()
    with closing(sqlite3.connect(home.path / "driver.db")) as journal, journal:
        journal.execute("CREATE TABLE purges (zone TEXT PRIMARY KEY)")
        journal.execute("INSERT INTO purges VALUES (?)", (ZONE,))
    home.open()
    home.drive()
    assert files_holding(home.path, WORD) == []
    home.restart()
    assert home.node.journal.legacy_pending_purges() == []
