"""The doctor finds what is wrong with a home, and its advice is right where it is given."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sysconfig
from contextlib import closing
from pathlib import Path

import pytest

from recollect.operations.upkeep import doctor
from tests.home.directory.test_full_disk import on_a_full_disk
from tests.home.directory.test_read_only import mounted
from tests.home.kit import SENTENCES, Home

Checks = dict[str, dict[str, str]]
NOBODY = 65534


def checked(home: Home) -> tuple[int, Checks]:
    ended = home.run("doctor", "--json")
    assert ended.stderr == ""
    return ended.status, {check["check"]: check for check in ended.json["checks"]}


def failed(home: Home) -> Checks:
    status, checks = checked(home)
    found = {name: check for name, check in checks.items() if not check["ok"]}
    assert status == (1 if found else 0)
    assert all(check["fix"] for check in found.values())
    return found


def as_user(home: Home, user: int) -> Home:
    other = Home(home.path)
    other.before = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--"]
    return other


def let_in(path: Path) -> None:
    """Let others enter the directories above a path."""
    for above in list(path.parents)[:-1]:
        above.chmod(above.stat().st_mode | 0o011)


def test_a_home_that_is_well_is_said_to_be(home: Home) -> None:
    assert not failed(home)
    # One record was forgotten: its key is missing, and an erasure says why.
    assert "every key is present" in checked(home)[1]["keys"]["detail"]


def test_keys_that_no_erasure_ended_are_named(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make(*SENTENCES)
    with closing(sqlite3.connect(home.path / "keys.db")) as keys, keys:
        keys.execute("DELETE FROM keys WHERE key_id IN (SELECT key_id FROM keys LIMIT 2)")
    found = failed(home)
    assert "keys" in found
    assert "2 of zone default (event " in found["keys"]["detail"]
    assert "restore keys.db from a backup" in found["keys"]["fix"]
    assert "ledger" not in found


def test_a_lost_key_of_an_erasure_is_named_too(home: Home) -> None:
    with closing(sqlite3.connect(home.path / "keys.db")) as keys, keys:
        keys.execute("DELETE FROM keys")
    assert "key of erasure" in failed(home)["keys"]["detail"]


def test_of_many_lost_keys_the_first_are_shown(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make(*SENTENCES, *SENTENCES, *SENTENCES)
    with closing(sqlite3.connect(home.path / "keys.db")) as keys, keys:
        keys.execute("DELETE FROM keys")
    found = failed(home)["keys"]
    assert found["detail"].endswith("of zone default (event 1, 2, 3, 4, 5 and more)")


def test_without_a_home_nothing_is_said_of_what_is_in_it(tmp_path: Path) -> None:
    found = failed(Home(tmp_path / "none"))
    assert list(found) == ["home"]
    assert f"recollect --home {tmp_path / 'none'} init" in found["home"]["fix"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("Not a home.")
    found = failed(Home(tmp_path / "other"))
    assert list(found) == ["home"]
    # An init would refuse that directory.
    assert f"{tmp_path / 'other'} init" not in found["home"]["fix"]
    assert "--home" in found["home"]["fix"]


def test_a_damaged_home_file_comes_from_a_backup(home: Home) -> None:
    (home.path / "home.json").write_bytes(b"{\xff")
    found = failed(home)
    assert list(found) == ["home"]
    assert "backup" in found["home"]["fix"]


def test_a_missing_ledger_is_no_ledger_that_was_never_made(home: Home) -> None:
    for path in [*home.path.glob("ledger.db*"), *home.path.glob("keys.db*")]:
        path.unlink()
    found = failed(home)
    assert {"ledger", "keys"} <= set(found)
    assert "is missing" in found["ledger"]["detail"]
    assert "backup" in found["ledger"]["fix"]


def test_a_read_only_mount_is_well_and_said(home: Home) -> None:
    there = mounted(home)
    assert not failed(there)
    assert "remount,rw" in checked(there)[1]["writable"]["detail"]


def test_a_home_of_another_user_is_for_that_user(home: Home) -> None:
    let_in(home.path)
    found = failed(as_user(home, NOBODY))
    assert list(found) == ["home"]
    assert "another user" in found["home"]["detail"]
    assert "init" not in found["home"]["fix"]
    assert f"run recollect as the user {os.geteuid()}" in found["home"]["fix"]
    ended = as_user(home, NOBODY).run("recall", "Ada")
    assert ended.status == 2
    assert "another user" in ended.stderr


def test_files_that_belong_to_somebody_else_are_named(home: Home) -> None:
    let_in(home.path)
    for path in home.files():
        os.chown(path, NOBODY, NOBODY)
    owner = as_user(home, NOBODY)
    assert not failed(owner)
    os.chown(home.path / "ledger.db", 0, 0)
    found = failed(owner)
    assert set(found) == {"owner", "ledger", "keys"}
    for check in found.values():
        assert f"chown -R {NOBODY} {home.path}" in check["fix"]
    # What root would do there is no harm yet, and said.
    os.chown(home.path / "ledger.db", NOBODY, NOBODY)
    assert not failed(home)
    assert f"as {NOBODY}" in checked(home)[1]["owner"]["detail"]


def test_on_a_full_disk_space_is_what_is_missing(home: Home) -> None:
    used = sum(path.stat().st_size for path in home.files() if path.is_file())
    fill = (
        'mount --make-rprivate / && cp -a "$0" "$0.copy" '
        f'&& mount -t tmpfs -o size={used + (1 << 19)} none "$0" && cp -a "$0.copy/." "$0" '
        '&& rm -r "$0.copy"; dd if=/dev/zero of="$0/filler" bs=1k 2>/dev/null; exec "$@"'
    )
    full = Home(home.path)
    full.before = ["unshare", "--mount", "sh", "-c", fill, str(home.path)]
    df = subprocess.run(
        [*full.before, "df", "--output=avail", str(home.path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(df.stdout.split()[-1]) < 4
    found = failed(full)
    assert "disk" in found
    for check in found.values():
        assert "free some space" in check["fix"], found
        assert "nothing is lost" in check["fix"]
    ended = full.run("remember", "Something new.")
    assert ended.status == 1
    assert "the disk is full" in ended.stderr


@pytest.mark.parametrize("at", ["commit.keys_destroyed", "commit.embeddings"])
def test_an_erasure_that_is_not_finished_is_said_by_verify_and_left_to_others(
    home: Home, at: str
) -> None:
    assert home.run("forget", "m-1", RECOLLECT_FAILPOINT=at).status == -9
    ended = home.run("verify", "--json")
    problems = json.loads(ended.stdout)["problems"]
    owed = at == "commit.embeddings"
    # Before the files had it, it is a record that is not decided.
    assert any("erasure is unfinished" in problem for problem in problems) == owed
    if owed:
        assert ended.status == 1
        assert home.run("verify").status == 1
    home.well("worker", "--once")
    assert not home.well("verify", "--json").json["problems"]


@pytest.mark.parametrize(
    ("kind", "options"), [("nfs4", "rw - nfs4 server:/export rw"), ("cifs", "rw - cifs //s/x rw")]
)
def test_a_home_on_a_network_file_system_is_named(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, options: str
) -> None:
    """FAULTS 26."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        f"40 22 0:50 / {home.path} {options}\n"
        f"41 22 0:51 / {home.path}er rw - tmpfs none rw\n"
    )
    monkeypatch.setattr(doctor, "_MOUNTS", mounts)
    found = failed(home)
    assert list(found) == ["file system"]
    assert kind in found["file system"]["detail"]
    assert "local disk" in found["file system"]["fix"]


def test_the_innermost_and_latest_mount_counts(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw shared:1 master:2 - ext4 /dev/sda1 rw\n"
        r"30 22 0:40 / /my\040homes rw - nfs server:/x rw" + "\n"
        r"31 22 0:41 / /my\040homes/ada rw - xfs /dev/sdb rw" + "\n"
        r"32 22 0:42 / /my\040homes/ada rw - btrfs /dev/sdc rw" + "\n"
    )
    for place, kind in (
        ("/my homes/ben", "nfs"),
        ("/my homes/ada/zones", "btrfs"),
        ("/my homesteads", "ext4"),
    ):
        assert doctor.file_system_of(Path(place), mounts) == kind
    assert doctor.file_system_of(Path("/"), tmp_path / "absent") is None


def test_a_python_on_musl_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAULTS 26."""
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _: "cpython-312-x86_64-linux-musl")
    found = failed(home)
    assert list(found) == ["python"]
    assert "Alpine" in found["python"]["detail"]
    assert "glibc" in found["python"]["fix"]


@pytest.mark.slow
def test_a_full_disk_and_a_read_only_home_have_a_line_each(home: Home) -> None:
    """FAULTS 26."""
    full = failed(on_a_full_disk(home))
    assert list(full) == ["disk"]
    assert "free some space" in full["disk"]["fix"]
    status, checks = checked(mounted(home))
    assert status == 0
    assert "read-only: it answers" in checks["writable"]["detail"]
