"""E11: a head kept elsewhere finds a ledger that was cut off, rolled back or chained anew."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.promises.kit import Shell, said


def messages(first: int, last: int, words: str = "I own dog number") -> list[dict[str, object]]:
    return [said(f"{words} {number}.", f"{words}-{number}") for number in range(first, last + 1)]


@pytest.fixture(autouse=True)
def only_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the ticks of imports out of the ledger, so that event 10 is message 10."""
    monkeypatch.setenv("RECOLLECT_TICKS", "off")


def refused(shell: Shell, head: str, said: str) -> None:
    """Require that verify does not find a head, and says why."""
    ended = shell.run("verify", "--expect", head)
    assert ended.status == 1
    assert "DAMAGED" in ended.output
    assert said in ended.errors


def cut_off(shell: Shell, number: int) -> None:
    """Take everything after an event out of the ledger, as if it had never come, and the files."""
    with closing(sqlite3.connect(shell.home / "ledger.db")) as ledger, ledger:
        for topic in ("events", "changes"):
            places = ledger.execute(f"SELECT position FROM {topic} ORDER BY position").fetchall()
            first = places[number][0]
            ledger.execute(f"DELETE FROM {topic} WHERE position >= ?", (first,))
            if topic == "events":
                for index in ("sources", "kinds"):
                    ledger.execute(f"DELETE FROM {index} WHERE position >= ?", (first,))
                (last, *_) = ledger.execute("SELECT value FROM events ORDER BY position DESC")
        digest = hashlib.sha256(last[0]).digest()
        ledger.execute("UPDATE heads SET number = ?, hash = ?", (number, digest))
    shutil.rmtree(shell.home / "zones")
    (shell.home / "driver.db").unlink()


def test_E11_the_last_20_events_and_changes_are_cut_off_heads_and_files_with_them(
    shell: Shell,
) -> None:
    shell.ingest(*messages(1, 10))
    early = shell("status")["head"]
    late = shell.ingest(*messages(11, 30))["head"]
    assert shell("verify", "--expect", late)["ok"]
    cut_off(shell, 10)
    # By itself the ledger is whole: nothing in it says that there was more.
    assert shell("verify")["ok"]
    refused(shell, late, "the ledger ends at event 10, and the expected head names event 30")
    assert shell("verify", "--expect", early)["ok"]


def test_E11_an_older_home_that_was_put_back_is_found_also_when_it_was_written_on(
    shell: Shell,
) -> None:
    shell.ingest(*messages(1, 3))
    shutil.copytree(shell.home, shell.room / "older")
    kept = shell.ingest(*messages(4, 6))["head"]
    shutil.rmtree(shell.home)
    (shell.room / "older").rename(shell.home)
    refused(shell, kept, "ends at event 3")
    shell.ingest(*messages(4, 9, "I own cat number"))
    refused(shell, kept, "event 6 is not the one that the expected head names")


def test_E11_a_head_of_an_earlier_moment_is_found_in_a_ledger_that_has_grown(shell: Shell) -> None:
    heads = [shell.ingest(*messages(n, n))["head"] for n in range(1, 6)]
    assert heads == sorted(set(heads))
    shell("rebuild", "--level", "derive")
    shell("rollback")
    shell("forget", "I own dog number-2")
    for head in heads:
        found = shell("verify", "--expect", head)
        assert found["ok"]
        assert found["head"] == shell("status")["head"] != head


def test_E11_nothing_is_expected_of_a_zone_that_is_empty_but_that_it_was_so(shell: Shell) -> None:
    empty = shell("status")["head"]
    kept = shell.ingest(*messages(1, 1))["head"]
    for head in (empty, kept):
        assert shell("verify", "--expect", head)["ok"]
    ended = shell.run("--zone", "another", "verify", "--expect", kept)
    assert ended.status == 1
    assert "the ledger ends at event 0" in ended.errors


@pytest.mark.parametrize(
    "wrong", ["", "7", "7:", "7:abc", ":" + "0" * 32, "7:" + "0" * 31, "x:" + "0" * 32,
              "7:" + "g" * 32, "-1:" + "0" * 32, "9" * 99 + ":" + "0" * 32, "a head"]
)  # fmt: skip
def test_E11_what_is_no_head_is_wrong_use(shell: Shell, wrong: str) -> None:
    shell.ingest(*messages(1, 1))
    ended = shell.run("verify", f"--expect={wrong}")
    assert ended.status == 2
    assert "is not a head" in ended.errors
    assert "Traceback" not in ended.errors
