"""What was forgotten lies in a directory that cannot be deleted: it is said until it is gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.home.kit import Home
from tests.protocol.kit import files_holding

# Of the event that is forgotten, and of no other.
WORD = b"Berlin"
#: Mounts the directory $1 onto itself for one command: nobody can delete it then.
MOUNT = 'mount --make-rprivate / && mount --bind "$0" "$0" && exec "$@"'


def asked_of_the_past(home: Home) -> Path:
    """Have a moment of the past made that holds the event, and return where it lies."""
    known = home.ingest("A second thing.", first=11).json["token"]
    home.well("remember", "A third thing.")
    answer = home.well("recall", "Where does Ada live?", "--known-at", known, "--json").json
    assert answer["results"]
    past = home.path / "zones" / "default" / "past"
    assert files_holding(past, WORD)
    return past


def says_so(home: Home, left: Path) -> None:
    """The erasure is not called done, by whomever it is asked; nothing answers from it."""
    for _ in range(2):
        ended = home.run("forget", "m-1")
        assert ended.status == 1, ended.said
        assert str(left) in ended.stderr
    answer = home.well("recall", "Where does Ada live?", "--json").json
    assert not any("Berlin" in result["text"] for result in answer["results"])
    verified = home.run("verify", "--json")
    assert verified.status == 1
    assert any("erasure" in problem for problem in verified.json["problems"])


def is_done(home: Home) -> None:
    """Where it can be deleted again, the same command finishes it."""
    assert home.well("forget", "m-1", "--json").json["already_forgotten"] == ["m-1"]
    assert not files_holding(home.path, WORD)
    assert home.well("verify", "--json").json["ok"]


def test_a_moment_of_the_past_that_cannot_be_deleted_is_named_until_it_is_gone(home: Home) -> None:
    past = asked_of_the_past(home)
    held = Home(home.path)
    held.before = ["unshare", "--mount", "sh", "-c", MOUNT, str(past)]
    for _ in range(2):
        ended = held.run("forget", "m-1")
        assert ended.status == 1, ended.said
        assert str(past) in ended.stderr
    # Without the mount, whoever comes next finds the debt.
    is_done(home)


def test_what_lies_behind_a_link_is_not_called_forgotten(home: Home, tmp_path: Path) -> None:
    past = asked_of_the_past(home)
    elsewhere = tmp_path / "elsewhere"
    past.rename(elsewhere)
    past.symlink_to(elsewhere)
    says_so(home, past)
    assert files_holding(elsewhere, WORD)
    past.unlink()
    shutil.rmtree(elsewhere)
    is_done(home)


def test_a_generation_that_was_moved_away_is_not_called_forgotten(
    home: Home, tmp_path: Path
) -> None:
    asked_of_the_past(home)
    first = home.path / "zones" / "default" / "g000001"
    elsewhere = tmp_path / "elsewhere"
    first.rename(elsewhere)
    first.symlink_to(elsewhere)
    # The one in use is the second; a third is made, and that is kept, and not this one.
    ended = home.run("rebuild")
    assert str(first) in ended.stderr
    says_so(home, first)
    assert files_holding(elsewhere, WORD)
    first.unlink()
    shutil.rmtree(elsewhere)
    is_done(home)


@pytest.mark.parametrize("what", ["past", "g000001"])
def test_what_a_link_leads_to_is_never_deleted(home: Home, tmp_path: Path, what: str) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "letter.txt").write_text("mine")
    link = home.path / "zones" / "default" / what
    home.well("rebuild")
    assert not link.exists()
    link.symlink_to(own)
    home.run("forget", "m-1")
    home.run("rebuild")
    assert (own / "letter.txt").read_text() == "mine"
