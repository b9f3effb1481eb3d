"""A key that is missing for no erasure: its zone stops and says so, and nothing is decided."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import msgspec
import pytest

from recollect.schemas.errors import IntegrityError
from recollect.streams.ledger import EVENTS, partition_of
from recollect.streams.projecting.projector import project_changes
from tests.protocol.kit import START, ZONE, Home, forget, say

MakeHome = Callable[..., Home]

TEXTS = ("Ada moved to Berlin.", "Ada moved to Paris.", "Bob likes tea.", "Ada moved to Rome.")
LOST = 3


def keys_of(home: Home) -> list[bytes]:
    """Return the ids of the keys of a zone's events, by the form of a record."""
    found = []
    for record in home.ledger.read(EVENTS, partition_of(ZONE), 0, 100, ZONE):
        clear, _ = msgspec.msgpack.decode(record.value)
        found.append(msgspec.msgpack.decode(clear)[9])
    return found


def lose(path: Path, key_id: bytes) -> Callable[[], None]:
    """Lose a key as a disk does, or an older backup; return what brings it back."""
    with closing(apsw.Connection(str(path / "keys.db"))) as file:
        ((key,),) = file.execute("SELECT key FROM keys WHERE key_id = ?", (key_id,)).fetchall()
        file.execute("DELETE FROM keys WHERE key_id = ?", (key_id,))

    def restore() -> None:
        with closing(apsw.Connection(str(path / "keys.db"))) as file:
            file.execute("INSERT INTO keys VALUES (?, ?)", (key_id, key))

    return restore


def publish(home: Home) -> None:
    home.publish(*(say(text, str(n), at=START + n) for n, text in enumerate(TEXTS, 1)))


def test_a_lost_key_stops_its_zone_and_no_other_until_it_is_back(home: Home) -> None:
    publish(home)
    home.publish(say("Eve moved to Oslo.", "o"), zone="other")
    restore = lose(home.path, keys_of(home)[LOST - 1])
    for _ in range(2):
        with pytest.raises(IntegrityError) as raised:
            home.drive()
        for said in (f"offset {LOST - 1}", f"event {LOST}", f"zone {ZONE}", "restore", "verify"):
            assert said in str(raised.value)
        home.restart()
    assert home.drive("other") == 1
    assert home.changes() == [], "nothing is decided from what is not known"
    restore()
    home.drive()
    assert [number for number, _ in home.facts()] == [1, 2, 3, 4]


def test_conclusions_that_rest_on_a_lost_key_are_not_left_out(
    home: Home, make_home: MakeHome
) -> None:
    """Another home of this ledger has read the events, and not yet what was decided."""
    publish(home)
    late = make_home("late", ledger=home.path)
    late.node.project_turns(ZONE)
    home.drive()
    restore = lose(home.path, keys_of(home)[LOST - 1])
    generation = late.node.current(ZONE)
    with late.node.open(ZONE, generation) as files:
        with pytest.raises(IntegrityError, match=f"event {LOST} .*was lost, not deleted"):
            project_changes(late.ledger, ZONE, generation.chain, files)
        assert files.watermark().number == 0
        restore()
        project_changes(late.ledger, ZONE, generation.chain, files)
    assert late.facts() == home.facts()


def test_what_an_erasure_names_is_not_lost_whoever_reads_it_when(
    home: Home, make_home: MakeHome
) -> None:
    publish(home)
    home.drive()
    home.tell(forget(LOST))
    home.publish(forget(1))
    # Whoever ended this key died before he decided it.
    lose(home.path, keys_of(home)[0])
    late = make_home("late", ledger=home.path)
    late.drive()
    assert [number for number, _ in late.facts()] == [2, 4]
    # Erased is what an erasure names, and nothing beside it.
    lose(home.path, keys_of(home)[1])
    with pytest.raises(IntegrityError, match="event 2 "):
        make_home("later", ledger=home.path).drive()


@pytest.mark.parametrize("named_by_another", [False, True])
def test_a_lost_key_of_an_erasure_explains_nothing(home: Home, named_by_another: bool) -> None:
    publish(home)
    home.publish(forget(LOST))
    if named_by_another:
        home.publish(forget(5))
    keys = keys_of(home)
    lose(home.path, keys[LOST - 1])
    lose(home.path, keys[4])
    with pytest.raises(IntegrityError, match="erasure 5"):
        home.drive()
