"""Old chains make room, and nothing else changes: neither records that stay nor what they say."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.schemas.errors import IntegrityError
from recollect.schemas.ledger import fragments
from recollect.streams.engine import zone_driver
from recollect.streams.ledger import CHANGES, partition_of
from recollect.streams.lifecycle.rebuilding import rebuild, rollback
from recollect.streams.lifecycle.reclaiming import reclaim
from recollect.streams.lifecycle.verifying import verify
from tests.protocol.kit import START, ZONE, Home, agree, files_holding, forget, live, say

MakeHome = Callable[..., Home]

TOLD = [say(f"My box number {n} is blue.", str(n), at=START + n, thread="t") for n in range(30)]


def derived_often(home: Home, times: int = 3) -> None:
    """Tell something, and decide it again and again, each time into another chain."""
    home.tell(*TOLD)
    for _ in range(times):
        rebuild(home.node, ZONE, "derive")


def values(home: Home) -> list[bytes]:
    return [item.value for item in home.ledger.read(CHANGES, partition_of(ZONE), 0, 10_000, ZONE)]


def chains_of(home: Home) -> set[str]:
    return {header.chain for header, _ in home.changes()}


def sound(home: Home) -> None:
    found = verify(home.node, ZONE)
    assert found.ok, found.problems
    agree(home)


def size(home: Home) -> int:
    return (home.path / "ledger.db").stat().st_size


def test_chains_that_nothing_needs_make_room_and_nothing_else_changes(home: Home) -> None:
    derived_often(home)
    # Moves the WAL into the file.
    home.restart()
    before, kept, old = live(home), values(home), size(home)
    chains = chains_of(home)
    needed = {generation.chain for generation in home.node.zone(ZONE).generations()}
    assert (len(chains), len(needed)) == (4, 2)
    done = reclaim(home.node, ZONE)
    assert (set(done.chains), set(done.retained_chains)) == (chains - needed, needed)
    # Each decided what was told, and the switches up to its end.
    assert done.records >= 2 * len(TOLD)
    assert done.bytes > done.records * 100
    assert old - size(home) == done.bytes
    now = values(home)
    assert len(now) == len(kept)
    taken = [one for one, was in zip(now, kept, strict=True) if one != was]
    assert len(taken) == done.records
    assert max(map(len, taken)) < 60
    assert live(home) == before
    sound(home)
    # The files of every chain that stays come back from the ledger.
    rollback(home.node, ZONE)
    sound(home)
    home.close()
    shutil.rmtree(home.path / "zones")
    home.open()
    home.drive()
    assert live(home) == before
    home.tell(say("I like green tea.", "more"), forget(3))
    sound(home)


def test_reclaiming_twice_is_reclaiming_once(home: Home) -> None:
    derived_often(home)
    reclaim(home.node, ZONE)
    once = values(home)
    again = reclaim(home.node, ZONE)
    assert (again.records, again.chains) == (0, [])
    assert values(home) == once


def test_a_dry_run_says_what_would_be_taken_and_takes_nothing(home: Home) -> None:
    derived_often(home)
    home.restart()
    kept, old = values(home), size(home)
    told = reclaim(home.node, ZONE, dry_run=True)
    assert values(home) == kept
    assert size(home) == old
    done = reclaim(home.node, ZONE)
    assert (told.chains, told.retained_chains, told.records) == (
        done.chains,
        done.retained_chains,
        done.records,
    )
    assert told.bytes > 0


def test_a_zone_that_was_never_decided_again_gives_nothing(home: Home) -> None:
    home.tell(*TOLD)
    assert reclaim(home.node, ZONE).records == 0
    sound(home)


def test_records_in_fragments_are_taken_with_all_their_pieces(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zone_driver, "MAX_FRAGMENT_BYTES", 150)
    assert fragments.MAX_FRAGMENT_BYTES != 150
    derived_often(home, times=2)
    before = live(home)
    done = reclaim(home.node, ZONE)
    assert done.records > 2 * len(TOLD)
    assert live(home) == before
    sound(home)


def test_where_a_replay_gives_something_else_nothing_is_taken(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    derived_often(home)
    kept = values(home)
    file = home.ledger._file
    unmeddled = file.replace

    def meddled(topic: str, partition: int, offsets: list[int], record: bytes) -> None:
        # The last record is of a chain that is needed.
        unmeddled(topic, partition, [*offsets, len(kept) - 1], record)

    monkeypatch.setattr(file, "replace", meddled)
    with pytest.raises(IntegrityError, match="nothing was reclaimed"):
        reclaim(home.node, ZONE)
    assert values(home) == kept
    sound(home)


def test_other_zones_stay_as_they_are(home: Home) -> None:
    derived_often(home)
    home.publish(*TOLD, zone="y")
    home.drive("y")
    for _ in range(2):
        rebuild(home.node, "y", "derive")
    kept = home.changes("y")
    reclaim(home.node, ZONE)
    assert home.changes("y") == kept
    found = verify(home.node, "y")
    assert found.ok, found.problems


def test_what_was_erased_is_no_more_readable_than_before(home: Home, room: Path) -> None:
    home.tell(say("The qwxyz code is on the door.", "s"), *TOLD)
    for _ in range(3):
        rebuild(home.node, ZONE, "derive")
    home.tell(forget(1))
    reclaim(home.node, ZONE)
    assert not files_holding(home.path, b"qwxyz")
    assert b"qwxyz" not in home.readable_parts()
    sound(home)
