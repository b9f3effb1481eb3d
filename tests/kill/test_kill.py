"""Killed at every failpoint once, a home loses nothing; `python -m tests.kill` kills more often."""

from __future__ import annotations

import ast
import itertools
import multiprocessing
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect.projections.files import ZoneFiles
from recollect.streams.system.failpoints import FAILPOINTS, arm, disarm, failpoint
from tests.kill.__main__ import run, table
from tests.kill.power import PowerCut
from tests.kill.steps import steps
from tests.kill.world import make_world

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("schemas", "projections", "streams", "recollect")


def failpoints_in(source: str) -> list[ast.expr]:
    """Return what is given to `failpoint(...)` in a module."""
    return [
        node.args[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "failpoint"
    ]


def models(directory: Path) -> list[str]:
    with ZoneFiles(directory, None, 0) as files:
        return [model.name for model in files.decided]


def test_every_failpoint_of_the_code_is_listed_and_every_listed_one_is_in_the_code(tmp_path):
    found: list[str] = []
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for given in failpoints_in(path.read_text("utf-8")):
                if isinstance(given, ast.Constant):
                    found.append(str(given.value))
                else:
                    # One per read model, in a loop over them.
                    assert ast.unparse(given) == "f'commit.{model.name}'", path
                    found += [f"commit.{name}" for name in models(tmp_path)]
    # A step that both ledgers have, or both kinds of a node, is one failpoint.
    assert set(found) == set(FAILPOINTS)
    assert len(set(FAILPOINTS)) == len(FAILPOINTS)


def test_every_failpoint_lies_on_the_way_of_some_step_of_the_kill_test(tmp_path):
    todo = steps(make_world(1), tmp_path)
    assert {name for step in todo for name in step.passes} == set(FAILPOINTS)


def test_a_failpoint_stops_at_its_count_and_nowhere_else():
    arm("commit.read", 2)
    try:
        failpoint("commit.read")
        failpoint("commit.locked")
        with pytest.raises(Exception, match=r"commit\.read"):
            failpoint("commit.read")
        failpoint("commit.read")
    finally:
        disarm()


def test_a_world_is_the_same_for_a_seed_and_says_what_it_forgets_once():
    one, other = make_world(3, 120), make_world(3, 120)
    assert one.files == other.files != make_world(4, 120).files
    text = "\n".join(itertools.chain.from_iterable(one.files.values()))
    for gone in one.forgotten:
        holders = {line for line in text.splitlines() if gone.token in line}
        assert len(holders) == 1, "only the forgotten event holds its word"


@pytest.mark.slow
def test_a_power_cut_takes_the_end_of_what_was_not_flushed_and_leaves_the_rest_whole(tmp_path):
    """Each row is a transaction; those before a checkpoint are on the disk."""
    cut = PowerCut(random.Random(1))
    left = set()
    for trial in range(40):
        home = tmp_path / f"{trial}"
        home.mkdir()
        # A process that ends without closing leaves its WALs.
        process = multiprocessing.get_context("fork").Process(target=fill, args=(home,))
        process.start()
        process.join()
        cut.cut(home)
        with closing(sqlite3.connect(home / "memory.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            found = [row for (row,) in connection.execute("SELECT row FROM t ORDER BY row")]
        assert found == list(range(len(found)))
        left.add(len(found))
        with closing(sqlite3.connect(home / "ledger.db")) as connection:
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (20,)
    assert min(left) == 10
    assert len(left) > 3
    assert cut.cuts


def fill(home: Path) -> None:
    for name in ("memory.db", "ledger.db"):
        connection = sqlite3.connect(home / name, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("CREATE TABLE t (row INTEGER PRIMARY KEY, more TEXT)")
        for row in range(20):
            connection.execute("INSERT INTO t VALUES (?, ?)", (row, "x" * 500))
            if row == 9:
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    os._exit(0)


@pytest.mark.slow
@pytest.mark.parametrize("lose_wals", [False, True])
def test_a_home_that_was_killed_at_every_failpoint_holds_what_an_undisturbed_one_holds(lose_wals):
    said: list[str] = []
    checks, killer = run(each=1, thorough=False, lose_wals=lose_wals, size=120, say=said.append)
    assert not checks.failed, "\n".join([*map(str, checks.failed), *said, table(killer)])
    assert not killer.lacking
