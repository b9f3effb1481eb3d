"""A backup is one moment of a home that is in use, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect import Recollect
from recollect.schemas.errors import InvalidInput
from tests.backup.kit import WORDS, Homes, line, opened, rows, tree

ROOT = Path(__file__).resolve().parents[2]

# Each event says its number, and is a call of its own.
WRITER = """
import sys, time
from recollect import Recollect
with Recollect(sys.argv[1]) as r:
    for number in range(100_000):
        r.zone("w").ingest({
            "id": f"w-{number}", "platform": "chat", "sender_id": "ada", "sender_name": "Ada",
            "occurred_at": 1_778_000_000_000 + number * 60_000,
            "content": f"Ada saw {number} kettles in Turin.",
        })
        print(number, flush=True)
"""


def test_a_backup_says_what_it_holds_and_is_its_owners_alone(homes: Homes) -> None:
    manifest = json.loads((homes.backup / "manifest.json").read_text())
    assert {path.name for path in homes.backup.iterdir()} == {
        *("manifest.json", "ledger.db", "keys.db")
    }
    for name, described in manifest["files"].items():
        raw = (homes.backup / name).read_bytes()
        assert described == {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
    assert manifest["heads"] == {zone: homes.whole(zone)["head"] for zone in ("b", "default")}
    assert manifest["events"] == len(rows(homes.home / "ledger.db", "SELECT 1 FROM events")) == 11
    assert manifest["keys"] == len(rows(homes.home / "keys.db", "SELECT 1 FROM keys")) == 11
    assert manifest["settings"] == json.loads((homes.home / "home.json").read_text())
    again = homes.room / "again"
    old = os.umask(0)
    try:
        homes.well("backup", str(again))
    finally:
        os.umask(old)
    assert again.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in again.iterdir()} == {0o600}
    said = b"\n".join(text for _, text in opened(again))
    assert all(word.encode() in said for word in WORDS.values())


def test_a_restored_home_is_the_one_that_was_backed_up(homes: Homes) -> None:
    there = homes.other("there")
    report = there.restored()
    assert report["erasures_known"] is False
    assert (report["forgotten"], report["events_lost"], report["events"]) == (0, 0, 11)
    assert there.contents() == homes.contents()
    for zone in ("b", "default"):
        assert there.whole(zone) == homes.whole(zone)
    assert report["heads"] == {zone: homes.whole(zone)["head"] for zone in ("b", "default")}
    assert there.home.stat().st_mode & 0o777 == 0o700
    assert not [path for path in there.home.rglob("*") if path.stat().st_mode & 0o077]
    # It goes on: what it knows is known, and what is new is taken.
    assert (
        there.ingest(line("m-9", "Dora has a green bicycle.", day=10, sender_id="dora"))["new"] == 0
    )
    assert there.ingest(line("m-10", "Ada bought a boat."))["new"] == 1


@pytest.mark.slow
def test_what_another_process_writes_meanwhile_is_in_it_up_to_one_moment(homes: Homes) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(homes.home)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        try:
            assert writer.stdout is not None
            heads = []
            for number in range(3):
                # It has got somewhere since the last one.
                writer.stdout.readline()
                report = homes.well("backup", str(homes.room / f"b{number}"), "--json").json
                heads.append(report["heads"]["w"])
                writer.stdout.readline()
        finally:
            writer.kill()
    homes.well("worker", "--once")
    everything = homes.contents("w")
    for number, head in enumerate(heads):
        there = homes.other(f"there-{number}")
        report = there.restored(path=homes.room / f"b{number}")
        there.well("worker", "--once")
        assert report["heads"]["w"] == head
        homes.well("--zone", "w", "verify", "--expect", head)
        count = int(head.partition(":")[0])
        found = there.contents("w")
        assert found == {f"w-{n}": everything[f"w-{n}"] for n in range(count)}
        there.whole("w")
    assert len(set(heads)) == 3


def test_a_place_that_is_taken_is_left_as_it_is(homes: Homes) -> None:
    (homes.room / "file").write_text("mine")
    (homes.room / "full").mkdir()
    (homes.room / "full" / "mine").write_text("mine")
    (homes.room / "empty").mkdir()
    for path in (homes.room / "file", homes.room / "full", homes.backup, homes.home / "inside"):
        ended = homes.run("backup", str(path), "--json")
        assert (ended.status, ended.out) == (2, "")
    assert (homes.room / "file").read_text() == "mine"
    assert (homes.room / "full" / "mine").read_text() == "mine"
    homes.well("backup", str(homes.room / "empty"))
    assert not list(homes.room.glob(".recollect-backup-*"))


def test_what_a_killed_backup_left_is_no_backup_and_goes_with_the_next(homes: Homes) -> None:
    left = homes.room / ".recollect-backup-nightly"
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "--home", str(homes.home), "backup",
         str(homes.room / "nightly")],
        env={**os.environ, "PYTHONPATH": str(ROOT), "RECOLLECT_FAILPOINT": "backup.copied"},
        check=False,
    )  # fmt: skip
    assert done.returncode == -9
    assert left.is_dir()
    assert not (homes.room / "nightly").exists()
    homes.refused(path=homes.room / "nightly")
    homes.well("backup", str(homes.room / "next-night"))
    assert not left.exists()


def test_a_home_without_any_event_is_backed_up_and_restored(tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    homes.well("init", "--encoder", "none")
    report = homes.well("backup", str(homes.backup), "--json").json
    assert (report["events"], report["heads"]) == (0, {})
    there = homes.other("there")
    assert there.well("restore", str(homes.backup), "--json").json["events"] == 0
    there.ingest(line("m-1", "Ada lives in Berlin."))
    there.whole()


def test_a_backup_is_no_home_and_stays_as_it_is_when_it_is_read(homes: Homes) -> None:
    before = tree(homes.backup)
    assert homes.other("backup").run("status").status == 2
    homes.other("there").restored()
    homes.other("third").restored("--erasures-from", str(homes.backup))
    assert tree(homes.backup) == before
    assert {path.name for path in homes.backup.iterdir()} == set(before)


def test_the_library_backs_up_an_open_home_while_it_is_used(homes: Homes) -> None:
    with Recollect(homes.home) as r:
        r.zone("ada").ingest(line("x-1", "Ada lives in Rome."))
        report = r.backup(homes.room / "mine")
        r.zone("ada").ingest(line("x-2", "Ada has a cat."))
        assert report.heads["ada"].startswith("1:")
        with pytest.raises(InvalidInput, match="already exists"):
            r.backup(homes.room / "mine")
    restored = Recollect.restore(homes.room / "there", homes.room / "mine")
    assert restored.heads == report.heads


def test_on_kafka_both_say_what_to_do_there(homes: Homes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_LEDGER", "kafka://127.0.0.1:1")
    ended = homes.refused()
    assert ended.status == 2
    assert "docs/running.md" in ended.err
    assert "docs/running.md" in homes.run("backup", str(homes.room / "x")).err
