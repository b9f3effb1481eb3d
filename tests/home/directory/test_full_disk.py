"""On a full disk a home answers, takes nothing, and goes on as soon as there is room again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from recollect import DiskFull, Recollect
from recollect.projections import file_permissions
from tests.home.directory.test_read_only import QUESTION, answers, dies, held, writes
from tests.home.kit import Home

#: Mounts a copy of the home on a disk that is full, for one command.
FULL = (
    'mount --make-rprivate / && cp -a "$0" "$0.copy" && mount -t tmpfs -o size=40m none "$0" '
    '&& cp -a "$0.copy/." "$0" && rm -r "$0.copy"; '
    'dd if=/dev/zero of="$0/filler" bs=1k 2>/dev/null; exec "$@"'
)


def on_a_full_disk(home: Home) -> Home:
    there = Home(home.path)
    there.before = ["unshare", "--mount", "sh", "-c", FULL, str(home.path)]
    return there


def test_the_disk_is_really_full(home: Home) -> None:
    command = [*on_a_full_disk(home).before, "df", "--output=avail", str(home.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) == 0


def test_what_reads_answers_as_ever(home: Home) -> None:
    """FAULTS 26."""
    expected = answers(home)
    assert answers(on_a_full_disk(home)) == expected


def test_what_writes_says_in_one_sentence_that_it_cannot(home: Home, tmp_path: Path) -> None:
    """FAULTS 26."""
    commands = writes(tmp_path)
    for command, ended in zip(commands, on_a_full_disk(home).several(commands), strict=True):
        assert ended.status == 1, (command, ended.said)
        assert ended.stdout in ("", "record 1 is not a dead letter\n"), command
        if not ended.stdout:
            assert "the disk is full, but nothing was lost" in ended.stderr, command
            assert ended.stderr.count("\n") == 1, command


def test_what_is_not_decided_yet_is_found_where_there_is_room_elsewhere(home: Home) -> None:
    dies(home, "remember", "Dora lives in Lisbon.", at="append.committed")
    there = on_a_full_disk(home)
    assert "Dora lives in Lisbon." in there.found("Where does Dora live?")


def test_without_room_anywhere_what_was_decided_answers(home: Home) -> None:
    dies(home, "remember", "Dora lives in Lisbon.", at="append.committed")
    there = on_a_full_disk(home)
    full = str(home.path)
    answer = there.well("recall", QUESTION, "--json", TMPDIR=full).json
    assert answer["results"]


@pytest.mark.parametrize("space", ["blocks", "inodes"])
def test_an_open_home_goes_on_as_soon_as_there_is_room(
    home: Home, monkeypatch: pytest.MonkeyPatch, space: str
) -> None:
    """FAULTS 26."""
    free = [0]
    real = os.statvfs

    def told(place: Path) -> object:
        found = real(place)
        numbers = {name: getattr(found, name) for name in dir(found) if name.startswith("f_")}
        changed = ("f_bavail", "f_bfree") if space == "blocks" else ("f_ffree",)
        return _Told(numbers | dict.fromkeys(changed, free[0]) | {"f_files": 1_000})

    monkeypatch.setattr(os, "statvfs", told)
    before = held(home)
    with Recollect(home.path) as recollect:
        zone = recollect.zone()
        first = [result.text for result in zone.recall(QUESTION).results]
        assert first
        with pytest.raises(DiskFull):
            zone.remember("Dora lives in Lisbon.")
        assert held(home) == before
        free[0] = 1_000_000
        zone.remember("Dora lives in Lisbon.")
        found = [result.text for result in zone.recall("Where does Dora live?").results]
        assert "Dora lives in Lisbon." in found
        assert not file_permissions.read_only(home.path)
    home.well("verify")


class _Told:
    """What `statvfs` says."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.__dict__ |= numbers
