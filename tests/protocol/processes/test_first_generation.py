"""The first generation of a zone, while it is made: whoever comes meanwhile waits for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from recollect.projections.generations import Generation, ZoneDirectory
from recollect.schemas.errors import CorruptFile
from tests.protocol.kit import ZONE, Home, say


@pytest.mark.parametrize("described", [False, True], ids=["before it is complete", "after"])
def test_a_pointer_that_is_not_there_yet_is_not_lost(
    home: Home, monkeypatch: pytest.MonkeyPatch, described: bool
) -> None:
    """Several threads and processes of a home meet a new zone at once."""
    home.publish(say("Ada moved to Berlin.", "1"))
    making, go_on = threading.Event(), threading.Event()
    activate = ZoneDirectory.activate

    def slowly(
        self: ZoneDirectory, generation: Generation, previous: Generation | None
    ) -> Generation:
        if described:
            # As `activate` begins.
            generation = activate(self, generation, previous)
            (self.path / "CURRENT").unlink()
        making.set()
        assert go_on.wait(30)
        return activate(self, generation, previous)

    monkeypatch.setattr(ZoneDirectory, "activate", slowly)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(home.node.current, ZONE)
        assert making.wait(30)
        second = threads.submit(home.node.current, ZONE)
        go_on.set()
        assert second.result(30).name == first.result(30).name == "g000001"
    home.drive()
    assert [number for number, _ in home.facts()] == [1]


def test_who_died_while_making_it_leaves_no_damage(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.publish(say("Ada moved to Berlin.", "1"))
    with monkeypatch.context() as patched:
        patched.setattr(ZoneDirectory, "activate", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            home.node.current(ZONE)
    home.restart()
    assert not home.node.zone(ZONE).exists()
    home.drive()
    assert [number for number, _ in home.facts()] == [1]
    # One that was in use is damage, as ever.
    (home.node.zone(ZONE).path / "CURRENT").unlink()
    home.restart()
    with pytest.raises(CorruptFile, match="CURRENT is missing"):
        home.node.current(ZONE)
