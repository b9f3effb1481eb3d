"""Who can write the topics can append anything; what is no part of the history is void."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recollect.schemas.changes import DecidedPart, Fact, encode_part
from recollect.schemas.errors import IntegrityError
from recollect.schemas.ledger.records import (
    GENESIS,
    ChangeHeader,
    Source,
    record_hash,
    write_change,
)
from recollect.schemas.ledger.seal import new_key
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.ledger.sequencer import sequence
from recollect.streams.lifecycle.rebuilding import rebuild
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.records.chain_readers import ChangeReader, EventReader
from tests.protocol.kit import (
    START,
    ZONE,
    Home,
    agree,
    derived,
    files_holding,
    forget,
    live,
    projected,
    say,
)

MakeHome = Callable[..., Home]

BERLIN = say("Ada moved to Berlin.", "1")
TEA = say("I like green tea.", "2")
RED = say("We painted the kitchen red.", "3")
SECRET = say("The qwxyz code is on the door.", "s")

GHOST = Fact("ghost", "Ghosts live here.", None, START, START, "nobody", "{}", START, "ghost")


def source(home: Home, number: int) -> Source:
    """Return an event's running number with the id of its key, as the ledger has it."""
    return EventReader(home.ledger, ZONE).read(1_000)[number - 1].source


def extend(
    home: Home,
    number: int,
    previous: bytes | None = None,
    parts: Sequence[tuple[tuple[Source, ...], bytes]] = (),
    keys: dict[bytes, bytes] | None = None,
    **wrong: Any,
) -> bytes:
    """Append a change record that extends the chain in use, with `wrong` fields in its header.

    It decides nothing, unless `parts` are given. Its hash is returned.
    """
    with home.files() as files:
        before = files.memory.watermark().hash if previous is None else previous
    opened = EventReader(home.ledger, ZONE).read(1_000)
    event = opened[min(number, len(opened)) - 1]
    fields: dict[str, Any] = {
        "format": 1,
        "chain": home.node.current(ZONE).chain,
        "zone": ZONE,
        "number": number,
        "event_hash": event.hash,
        "event_offset": event.offset,
        "previous": before,
        "is_parked": False,
        "command_count": 0,
        "erased_events": (),
        **wrong,
    }
    value = write_change(ChangeHeader(**fields), parts, keys or {})
    home.ledger.append(CHANGES, ZONE, [value])
    return record_hash(value)


def stands(home: Home, said: str, facts: list[tuple[int, str]]) -> None:
    """Require these facts in every state of the zone, and that verify says what was appended."""
    home.drive()
    assert home.facts() == facts
    ours = agree(home)
    found = verify(home.node, ZONE)
    assert not found.ok
    assert not found.ledger_ok
    (problem,) = found.problems
    assert said in problem
    assert problem.startswith(f"changes/{partition_of(ZONE)} offset ")
    assert all(model.ok for model in found.models)
    # Nothing but the ledger is left, as on a new node.
    home.close()
    shutil.rmtree(home.path / "zones")
    home.open()
    home.drive()
    assert live(home) == ours


BOTH = [(1, "Ada moved to Berlin."), (2, "Ada likes green tea.")]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"event_hash": bytes(32)}, "does not name the hash and offset of event 2"),
        ({"event_offset": 0}, "does not name the hash and offset of event 2"),
        ({"event_offset": 77}, "does not name the hash and offset of event 2"),
        ({"zone": "another"}, "belongs to zone another"),
    ],
)
def test_a_change_record_without_parts_is_appended_with_a_wrong_event_hash(
    home: Home, wrong: dict[str, Any], said: str
) -> None:
    """Its event is another's, or it stands elsewhere, or is of another zone: it is void."""
    home.tell(BERLIN)
    home.publish(TEA)
    extend(home, 2, **wrong)
    stands(home, said, BOTH)
    home.tell(RED)
    assert len(home.facts()) == 3


@pytest.mark.parametrize("erased", [1, 2, 3])
def test_a_change_record_without_parts_is_appended_with_erases_that_no_forget_asks_for(
    home: Home, erased: int
) -> None:
    home.tell(BERLIN)
    home.publish(TEA, RED)
    extend(home, 2, erased_events=(source(home, erased),))
    said = f"erases {erased}, but its event asks to erase nothing"
    stands(home, said, [*BOTH, (3, "Ada and others painted the kitchen red.")])
    assert len(home.ledger.keys.get([source(home, n).key_id for n in (1, 2, 3)])) == 3


@pytest.mark.parametrize("claimed", [(), (1,), (1, 2), (2, 3)])
def test_an_erasure_that_erases_something_else_than_was_asked_for_is_void(
    home: Home, claimed: tuple[int, ...]
) -> None:
    """Whoever forges it would keep what is to be forgotten, or take more along."""
    home.tell(BERLIN, SECRET)
    home.publish(forget(2), TEA)
    extend(home, 3, erased_events=tuple(source(home, number) for number in claimed))
    stands(home, "but its event asks to erase 2", [BOTH[0], (4, "Ada likes green tea.")])
    assert not home.ledger.keys.get([source(home, 2).key_id])
    assert len(home.ledger.keys.get([source(home, n).key_id for n in (1, 3, 4)])) == 3
    assert not files_holding(home.path, b"qwxyz")


def test_an_erasure_that_names_another_key_is_void(home: Home) -> None:
    home.tell(BERLIN, SECRET)
    home.publish(forget(2))
    extend(home, 3, erased_events=(Source(2, source(home, 1).key_id),))
    stands(home, "erases 2, but its event asks to erase 2", BOTH[:1])


def test_a_forged_record_is_void_for_a_replica_that_comes_after_the_keys_are_gone(
    home: Home,
) -> None:
    """What it forges an erasure of is forgotten later: nobody who reads late takes it for that."""
    home.tell(BERLIN)
    home.publish(TEA)
    extend(home, 2, erased_events=(source(home, 1),))
    home.tell(forget(1), forget(2))
    assert list(home.facts()) == []
    assert live(home) == projected(home) == derived(home)


def test_a_part_that_rests_on_nothing_says_nothing(home: Home) -> None:
    """Its key would be one that anybody can reckon."""
    home.tell(BERLIN)
    home.publish(TEA)
    extend(home, 2, parts=[((), encode_part(DecidedPart((2,), puts=[GHOST])))])
    stands(home, "a part of change 2 has no sources", BOTH)
    assert not home.rows("memory", "SELECT 1 FROM facts WHERE id = 'ghost'")


@pytest.mark.parametrize("number", [1, 2, 3, 77, 0, -1])
def test_a_part_under_a_key_of_the_forgers_own_says_nothing(home: Home, number: int) -> None:
    """Where keys can be written as well, as to the topic of Kafka."""
    home.tell(BERLIN)
    home.publish(TEA, RED)
    key_id, key = new_key()
    home.ledger.keys.add({key_id: key})
    text = encode_part(DecidedPart((2,), puts=[GHOST]))
    extend(home, 2, parts=[((Source(number, key_id),), text)], keys={key_id: key})
    stands(
        home,
        f"names a key that is not that of event {number}",
        [*BOTH, (3, "Ada and others painted the kitchen red.")],
    )


def test_a_part_that_rests_on_a_later_event_says_nothing(home: Home) -> None:
    home.tell(BERLIN)
    home.publish(TEA, RED)
    later = source(home, 3)
    text = encode_part(DecidedPart((3,), puts=[GHOST]))
    extend(home, 2, parts=[((later,), text)], keys=home.ledger.keys.get([later.key_id]))
    stands(home, "that of event 3", [*BOTH, (3, "Ada and others painted the kitchen red.")])


def test_a_change_of_an_event_that_is_void_is_void(home: Home) -> None:
    """Of two events with one number the first counts, and so does what was decided of it."""
    home.tell(BERLIN)
    head = home.ledger.head(ZONE)
    home.publish(TEA)
    secret = home.ledger.keys.secret
    _, (late,), _ = sequence(
        ZONE, [RED], head, secret=secret, now=START, find_known=lambda source: None
    )
    home.ledger.append(EVENTS, ZONE, [late.value])
    offset = home.ledger.end(EVENTS, partition_of(ZONE)) - 1
    extend(home, 2, event_hash=record_hash(late.value), event_offset=offset)
    stands(home, "does not name the hash and offset of event 2", BOTH)


def test_a_change_that_comes_before_its_event_waits_for_it_and_is_void(home: Home) -> None:
    """Nobody can know the hash of what was not said yet; until then it stops nothing."""
    home.tell(BERLIN)
    extend(home, 2)
    home.drive()
    reader = ChangeReader(home.ledger, ZONE, home.node.current(ZONE).chain)
    assert [change.header.number for change in reader.read(10)] == [1]
    assert reader.read(10) == []
    home.publish(TEA)
    assert reader.read(10) == []
    stands(home, "does not name the hash and offset of event 2", BOTH)


def test_an_event_of_another_zone_under_this_zones_name_is_void(home: Home) -> None:
    """The first of every zone has the same number and follows the same: nothing."""
    home.publish(SECRET, zone="y")
    (first,) = home.ledger.read(EVENTS, partition_of("y"), 0, 1, "y")
    home.ledger.append(EVENTS, ZONE, [first.value])
    home.tell(BERLIN, TEA)
    assert home.facts() == BOTH
    assert live(home) == projected(home) == derived(home)
    assert verify(home.node, ZONE).void_records == 1


def test_what_follows_a_forged_record_is_void_with_it(home: Home) -> None:
    home.tell(BERLIN)
    home.publish(TEA, RED)
    forged = extend(home, 2, event_hash=bytes(32))
    extend(home, 3, previous=forged)
    stands(
        home,
        "does not name the hash and offset of event 2",
        [*BOTH, (3, "Ada and others painted the kitchen red.")],
    )


def test_a_record_is_forged_between_reading_and_appending(home: Home) -> None:
    """The driver finds it before its own, and is not stopped by it."""
    home.tell(BERLIN)
    home.publish(TEA)
    with home.driver() as driver:
        driver.catch_up()
        (record,) = EventReader(home.ledger, ZONE).read(10)[1:]
        extracted = driver.extract([record])
        extend(home, 2, event_hash=bytes(32))
        assert driver.decide([record], extracted) == 1
    stands(home, "does not name the hash and offset of event 2", BOTH)


@pytest.mark.parametrize("level", ["project", "derive"])
def test_a_rebuild_passes_over_what_is_forged(home: Home, level: str) -> None:
    home.tell(BERLIN)
    home.publish(TEA)
    extend(home, 2, erased_events=(source(home, 1),))
    home.drive()
    before = live(home)
    rebuild(home.node, ZONE, level)  # type: ignore[arg-type]
    assert live(home) == before
    assert home.facts() == BOTH


def test_what_a_driver_decides_against_the_rules_stops_it_loudly(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Void and with nothing in its place: to try again would append it for ever."""
    home.tell(BERLIN)
    home.publish(TEA)
    unmeddled = home.ledger.append

    def meddled(topic: str, zone: str, values: Sequence[bytes]) -> None:
        header, parts = msgspec.msgpack.decode(values[0])
        fields = msgspec.msgpack.decode(header)
        fields[4] = bytes(32)
        value = msgspec.msgpack.encode((msgspec.msgpack.encode(fields), parts))
        unmeddled(topic, zone, [value])

    monkeypatch.setattr(home.ledger, "append", meddled)
    with pytest.raises(IntegrityError, match="appended for event 2"):
        home.drive()
    monkeypatch.undo()
    home.drive()
    assert home.facts() == BOTH


def test_the_first_change_of_a_zone_is_checked_too(home: Home, room: Path) -> None:
    home.publish(BERLIN)
    extend(home, 1, previous=GENESIS, event_hash=bytes(32))
    stands(home, "does not name the hash and offset of event 1", BOTH[:1])
