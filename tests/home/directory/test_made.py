"""Only the first event of a home makes its ledger and keys; later, a missing one is named."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect.schemas.errors import NewerFormat
from recollect.streams.ledger.kafka.keys import KeysCopy
from tests.home.kit import SENTENCES, Home
from tests.memory import Memory

#: Every command that works with a home.
COMMANDS = [
    ["recall", "Where does Ada live?"],
    ["status"],
    ["verify"],
    ["rebuild"],
    ["rebuild", "--level", "derive"],
    ["rebuild", "--dry-run"],
    ["rollback"],
    ["worker", "--once"],
    ["forget", "m-1"],
    ["remember", "Something new."],
    ["deadletters"],
    ["why", "m-1"],
    ["ingest", "EXPORT"],
]


def names(home: Path) -> set[str]:
    return {path.name for path in home.iterdir()}


def export(tmp_path: Path) -> str:
    path = tmp_path / "more.jsonl"
    event = {
        "id": "m-1",
        "platform": "chat",
        "sender_id": "ada",
        "occurred_at": "2026-05-01T10:00:00Z",
        "content": SENTENCES[0],
    }
    path.write_text(json.dumps(event) + "\n")
    return str(path)


@pytest.mark.parametrize("missing", [["ledger.db"], ["keys.db"], ["ledger.db", "keys.db"]])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: "-".join(command[:3]))
def test_a_missing_file_of_the_ledger_is_named_and_nothing_is_made_in_its_place(
    home: Home,
    tmp_path: Path,
    command: list[str],
    missing: list[str],
) -> None:
    for name in missing:
        for path in home.path.glob(f"{name}*"):
            path.unlink()
    arguments = [export(tmp_path) if each == "EXPORT" else each for each in command]
    ended = home.run(*arguments)
    assert ended.status == 1
    assert ended.stdout == ""
    assert any(str(home.path / name) in ended.stderr for name in missing)
    assert "restore" in ended.stderr
    assert not set(missing) & names(home.path)


def test_when_the_file_is_back_so_is_everything(home: Home, tmp_path: Path) -> None:
    answer = home.found("Where does Ada live?")
    for name in ("ledger.db", "keys.db"):
        (home.path / name).rename(tmp_path / name)
        assert home.run("recall", "Where does Ada live?").status == 1
        (tmp_path / name).rename(home.path / name)
    assert home.found("Where does Ada live?") == answer
    assert home.run("verify").status == 0


def test_a_home_without_events_is_empty_and_stays_so(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make()
    for command, status in (
        (["recall", "anything", "--json"], 0),
        (["status", "--json"], 0),
        (["worker", "--once"], 0),
        (["deadletters"], 0),
        (["rebuild"], 1),
        (["verify"], 1),
    ):
        ended = home.run(*command)
        assert bool(ended.status) == bool(status), ended.said
        assert "missing" not in ended.said
    assert not {"ledger.db", "keys.db", "zones"} & names(home.path)
    home.ingest(*SENTENCES)
    assert {"ledger.db", "keys.db"} <= names(home.path)
    assert home.found("Where does Ada live?")


@pytest.mark.parametrize("at", ["ledger.begun", "ledger.made", "append.keys"])
def test_who_dies_making_the_ledger_leaves_a_home_that_the_next_one_fills(
    tmp_path: Path, at: str
) -> None:
    home = Home(tmp_path / "home").make()
    died = home.run("remember", "Ada lives in Berlin.", RECOLLECT_FAILPOINT=at)
    assert died.status == -9
    assert home.well("status", "--json").json["events"] == 0
    home.well("remember", "Ada lives in Berlin.")
    assert home.well("status", "--json").json["events"] == 1
    home.well("verify")


def test_what_is_open_before_the_first_event_sees_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make()
    with Memory(home.path) as early, Memory(home.path) as other:
        assert early.status().events == 0
        other.remember("Ada lives in Berlin.")
        assert early.status().events == 1


def as_before(home: Path) -> None:
    """Make a home what the build before left: nothing in it says that its ledger was made."""
    (home / "ledger.json").unlink()
    with closing(sqlite3.connect(home / "ledger.db")) as ledger, ledger:
        ledger.execute("DROP TABLE identity")
        ledger.execute("PRAGMA user_version = 0")
    with closing(sqlite3.connect(home / "keys.db")) as keys, keys:
        keys.execute("DELETE FROM secrets WHERE name = 'home'")
        keys.execute("PRAGMA user_version = 0")


def test_a_home_of_the_build_before_opens_and_is_guarded_from_then_on(
    home: Home,
) -> None:
    answer = home.found("Where does Ada live?")
    as_before(home.path)
    assert home.found("Where does Ada live?") == answer
    assert home.run("verify").status == 0
    assert "ledger.json" in names(home.path)
    (home.path / "keys.db").unlink()
    assert "keys.db is missing" in home.run("status").stderr


@pytest.mark.parametrize("left", [["keys.db"], ["ledger.db"], []])
def test_a_home_of_the_build_before_is_not_taken_for_a_new_one(home: Home, left: list[str]) -> None:
    as_before(home.path)
    for name in {"ledger.db", "keys.db"} - set(left):
        (home.path / name).unlink()
    for command in (["status"], ["recall", "x"], ["remember", "x"]):
        ended = home.run(*command)
        assert ended.status == 1
        assert "is missing" in ended.stderr


@pytest.mark.parametrize("name", ["ledger.db", "keys.db"])
def test_a_file_of_another_home_is_named(home: Home, tmp_path: Path, name: str) -> None:
    other = Home(tmp_path / "other").make(*SENTENCES)
    shutil.copyfile(other.path / name, home.path / name)
    for command in (["status"], ["recall", "Ada"], ["rebuild"], ["remember", "x"], ["verify"]):
        ended = home.run(*command)
        assert ended.status == 1
        assert f"{home.path / name} belongs to another home" in ended.stderr


@pytest.mark.parametrize("name", ["ledger.db", "keys.db", "driver.db", "events.db", "memory.db"])
@pytest.mark.parametrize(
    "command", [["status"], ["recall", "Ada"], ["rebuild"], ["remember", "x"], ["verify"]]
)
def test_a_file_of_a_newer_version_is_refused_by_name(
    home: Home, name: str, command: list[str]
) -> None:
    path = (home.generation if name in ("events.db", "memory.db") else home.path) / name
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    ended = home.run(*command)
    assert ended.status == 1
    # verify looks at a copy.
    assert f"/{name} was made by a newer recollect (version 99" in ended.stderr
    assert "upgrade recollect" in ended.stderr
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (99,)


def test_a_home_of_a_newer_version_is_refused_by_name(
    home: Home,
) -> None:
    (home.path / "home.json").write_text('{"format": 99, "encoder": ["of", "tomorrow"]}')
    for command in (["status"], ["init"], ["recall", "x"]):
        ended = home.run(*command)
        assert ended.status == 1
        assert "home.json was made by a newer recollect (format 99" in ended.stderr


def test_a_copy_of_keys_by_a_newer_recollect_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "keys.db"
    KeysCopy(path).close()
    # The build before wrote no version.
    for version in (0, 1):
        with closing(sqlite3.connect(path)) as copy:
            copy.execute(f"PRAGMA user_version = {version}")
        KeysCopy(path).close()
    with closing(sqlite3.connect(path)) as copy:
        copy.execute("PRAGMA user_version = 99")
    with pytest.raises(NewerFormat, match=r"keys\.db was made by a newer recollect"):
        KeysCopy(path)
