"""Folding beside: a process of its own does it, and nothing depends on that."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams import beside
from streams.beside import folding_beside
from streams.rebuilding import rebuild
from streams.verifying import verify
from tests.protocol.kit import ZONE, Home, hashes_of, live, say

SAID = [say(f"The train number {number} leaves at noon.", str(number)) for number in range(30)]


@pytest.fixture
def home(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(beside, "FAR", 20)
    monkeypatch.setattr(beside, "usable_cores", lambda: 2)
    home = Home(room / "home")
    yield home
    home.close()


def test_many_events_are_folded_by_another_process(home: Home) -> None:
    home.publish(*SAID)
    generation = home.node.current(ZONE)
    with home.files() as files:
        with folding_beside(home.ledger, ZONE, files, generation) as many:
            assert many
        # Nobody here has folded anything.
        assert files.events.watermark().number == len(SAID)
        beside_us = hashes_of(files)
        with folding_beside(home.ledger, ZONE, files, generation) as many:
            assert not many
    home.drive()
    assert live(home)["events"] == beside_us["events"]


def test_few_events_are_not_worth_it(home: Home) -> None:
    home.publish(*SAID[:19])
    with (
        home.files() as files,
        folding_beside(home.ledger, ZONE, files, home.node.current(ZONE)) as many,
    ):
        assert not many
    with home.files() as files:
        assert files.events.watermark().number == 0


@pytest.mark.parametrize("python", [sys.executable, "/bin/false", "/no/such/python"])
def test_what_is_made_is_the_same_whatever_becomes_of_that_process(
    home: Home, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    home.tell(*SAID)
    before = live(home)
    monkeypatch.setattr(sys, "executable", python)
    assert rebuild(home.node, ZONE, "project").records == len(SAID)
    assert live(home) == before
    found = verify(home.node, ZONE)
    assert found.ok, found.problems


def test_a_late_node_follows_with_its_help(home: Home, room: Path) -> None:
    home.tell(*SAID)
    late = Home(room / "late", ledger=home.path)
    try:
        assert late.node.follow(ZONE) == len(SAID)
        assert late.node.follow(ZONE) == 0
        assert live(late) == live(home)
    finally:
        late.close()
