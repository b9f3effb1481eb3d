"""A home that cannot be written to answers, and says what it cannot do; the mounts are real."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.home.directory.test_damage import close
from tests.home.kit import SENTENCES, Home
from tests.migrations.layouts import set_back

QUESTION = "Where does Ada live?"
READS = [
    ["recall", QUESTION, "--json"],
    ["recall", QUESTION, "--known-at", "2100-01-01T00:00:00Z", "--json"],
    ["why", "m-1", "--json"],
    ["status", "--json"],
    ["verify", "--json"],
    ["deadletters", "--json"],
]
WRITES = [
    ["remember", "Something new."],
    ["forget", "m-1"],
    ["forget", "m-1", "--dry-run"],
    ["rebuild"],
    ["rebuild", "--level", "derive"],
    ["rollback"],
    ["reclaim"],
    ["worker"],
    ["worker", "--once"],
    ["ingest", "EXPORT"],
    ["deadletters", "drop", "1"],
    ["token", "create"],
    ["token", "revoke", "1f0c2ab94d5e6f70"],
]
_OWN = "mount --make-rprivate / && "
#: What mounts a home read-only, for one command and what it starts.
MOUNTS = {
    "bind": _OWN + 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
    "tmpfs": _OWN + 'cp -a "$0" "$0.copy" && mount -t tmpfs none "$0" && cp -a "$0.copy/." "$0" '
    '&& rm -r "$0.copy" && mount -o remount,ro "$0" && exec "$@"',
}


def mounted(home: Home, how: str = "bind") -> Home:
    """Return the home as it is where its directory is mounted read-only."""
    there = Home(home.path)
    there.before = ["unshare", "--mount", "sh", "-c", MOUNTS[how], str(home.path)]
    return there


def held(home: Home) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in home.files() if path.is_file()}


def without_time(answer: dict[str, object]) -> dict[str, object]:
    return {
        key: value for key, value in answer.items() if key not in ("ms", "seconds_since_progress")
    }


def answers(home: Home, *, but: str = "") -> list[dict[str, object]]:
    """Return what a home answers to everything that reads, but how long it took.

    `but`: a command to leave out.
    """
    reads = [each for each in READS if each[0] != but]
    ended = home.several(reads)
    assert [each.status for each in ended] == [0] * len(reads), ended
    return [without_time(each.json) for each in ended]


@pytest.fixture(scope="module")
def expected(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """What the home answers where it can be written to."""
    place = tmp_path_factory.mktemp("expected") / "home"
    shutil.copytree(filled, place)
    return answers(Home(place))


def test_the_mount_is_really_read_only(home: Home) -> None:
    for how in MOUNTS:
        command = [*mounted(home, how).before, "touch", str(home.path / "x")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "Read-only file system" in done.stderr


@pytest.mark.parametrize(
    ("how", "closed"),
    [
        pytest.param("bind", True, id="bind-closed"),
        pytest.param("tmpfs", False, id="tmpfs-with-logs"),
        pytest.param("bind", False, id="bind-with-logs", marks=pytest.mark.slow),
        pytest.param("tmpfs", True, id="tmpfs-closed", marks=pytest.mark.slow),
    ],
)
def test_what_reads_answers_as_ever_and_writes_nothing(
    home: Home, how: str, closed: bool, expected: list[dict[str, object]]
) -> None:
    # It leaves logs beside the files.
    home.well("verify")
    if closed:
        close(home)
    before = held(home)
    assert closed != any(path.endswith("-wal") for path in before)
    assert answers(mounted(home, how)) == expected
    assert held(home) == before


def writes(tmp_path: Path) -> list[list[str]]:
    """Return the commands that write, with an export to ingest."""
    export = tmp_path / "more.jsonl"
    export.write_text(
        '{"id": "m-9", "platform": "chat", "sender_id": "ada", "content": "More.", '
        '"occurred_at": "2026-05-09T10:00:00Z"}\n'
    )
    return [[str(export) if each == "EXPORT" else each for each in command] for command in WRITES]


def test_what_writes_says_in_one_sentence_that_it_cannot(home: Home, tmp_path: Path) -> None:
    before = held(home)
    commands = writes(tmp_path)
    for command, ended in zip(commands, mounted(home).several(commands), strict=True):
        assert ended.status in (1, 2), (command, ended.said)
        assert ended.stdout in ("", "record 1 is not a dead letter\n"), command
        if not ended.stdout:
            assert f"the home {home.path} is read-only" in ended.stderr, command
            assert ended.stderr.count("\n") == 1, command
    assert held(home) == before


def test_files_of_an_older_version_answer_as_those_of_today(
    home: Home, expected: list[dict[str, object]]
) -> None:
    close(home)
    for layout in ("events-1", "memory-5", "identity-1"):
        set_back(home.generation / f"{layout[:-2]}.db", layout)
    before = held(home)
    there = mounted(home)
    # A file of an older version has no rows of the tables that came later, unlike the replay.
    verified = next(place for place, each in enumerate(READS) if each[0] == "verify")
    assert answers(there, but="verify") == [*expected[:verified], *expected[verified + 1 :]]
    checks = there.run("doctor", "--json").json["checks"]
    assert [check["ok"] for check in checks if check["check"] == "zones"] == [True]
    assert held(home) == before


def dies(home: Home, *command: str, at: str) -> None:
    assert home.run(*command, RECOLLECT_FAILPOINT=at).status == -9


@pytest.mark.parametrize("at", ["append.committed", "commit.memory"])
def test_what_somebody_who_died_left_undone_is_in_the_answer(home: Home, at: str) -> None:
    dies(home, "remember", "Dora lives in Lisbon.", at=at)
    before = held(home)
    found, status, verified = mounted(home).several(
        [["recall", "Where does Dora live?", "--json"], ["status", "--json"], ["verify", "--json"]]
    )
    assert "Dora lives in Lisbon." in [result["text"] for result in found.json["results"]]
    assert status.json["lag"] == (1 if at == "append.committed" else 0)
    assert verified.json["ok"]
    assert held(home) == before


def test_what_was_forgotten_is_in_no_answer_though_its_files_still_hold_it(home: Home) -> None:
    dies(home, "forget", "m-1", at="append.committed")
    there = mounted(home)
    # The turn: what was decided from it goes with whoever can decide.
    answers = there.well("recall", "Berlin", "--json", "--scope", "events").json["results"]
    assert not [answer for answer in answers if "Berlin" in answer["text"]]


def test_a_home_without_events_is_empty(tmp_path: Path) -> None:
    found, status, refused = mounted(Home(tmp_path / "home").make()).several(
        [["recall", QUESTION, "--json"], ["status", "--json"], ["remember", "Something."]]
    )
    assert found.json["results"] == []
    assert status.json["events"] == 0
    assert "is read-only" in refused.stderr


def test_another_zone_is_asked_past_what_it_never_decided(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make()
    export = tmp_path / "export.jsonl"
    home.ingest(*SENTENCES)
    home.well("--zone", "late", "ingest", str(export), "--no-wait")
    there = mounted(home)
    answers = there.well("--zone", "late", "recall", QUESTION, "--json").json["results"]
    assert SENTENCES[0] in [answer["text"] for answer in answers]


def test_who_may_only_read_another_users_home_reads_it(home: Home) -> None:
    close(home)
    for path in home.files():
        path.chmod(0o755 if path.is_dir() else 0o644)
    for path in list(home.path.parents)[:-1]:
        path.chmod(path.stat().st_mode | 0o011)
    other = Home(home.path)
    other.before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    assert other.found(QUESTION) == home.found(QUESTION)
    assert "is read-only" in other.run("remember", "Something.").stderr
