"""Change records that are split: nothing is lost or doubled, whatever lies between fragments."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import chain, islice, pairwise, zip_longest
from typing import NamedTuple, cast

import apsw
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.schemas.changes import DecidedPart, Fact
from recollect.schemas.errors import InjectedFailure, IntegrityError
from recollect.schemas.events import Draft, Event, Tick
from recollect.schemas.ledger.fragments import MAX_FRAGMENT_BYTES, split
from recollect.schemas.ledger.records import (
    GENESIS,
    ChangeHeader,
    ChangeRecord,
    Part,
    Source,
    read_change,
    record_hash,
    write_event,
)
from recollect.schemas.wire import Verification
from recollect.streams.agents import AGENTS, Conversation, Extract, State
from recollect.streams.agents.turn_closer import ABANDONED_AFTER_MS, CLOSE_TURNS
from recollect.streams.ledger import CHANGES, Ledger, Record, partition_of
from recollect.streams.lifecycle.rebuilding import rebuild
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.records.chain_readers import AcceptedChange, ChangeReader
from recollect.streams.system import failpoints
from tests.protocol.kit import (
    MINUTE,
    START,
    ZONE,
    Home,
    agree,
    command,
    copy_of,
    forge,
    forget,
    live,
    projected,
    say,
)
from tests.slow_parameters import slow_except

#: Nearly every change record of these tests is larger.
SMALL = 150
PARTITION = partition_of(ZONE)

MakeHome = Callable[..., Home]

BERLIN = say("Ada moved to Berlin. She likes green tea. My tea shop is near the station.", "1")
RED = say("We painted the kitchen red.", "2")
TEA = say("I like oolong tea.", "3")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.streams.engine.zone_driver.MAX_FRAGMENT_BYTES", SMALL)


def history() -> list[Draft]:
    """Return messages, a turn that a tick completes, and an erasure."""
    return [
        BERLIN,
        RED,
        say("My bicycle is blue.", "t1", turn="T", thread="t"),
        TEA,
        say("Ada moved to Paris.", "4", at=START + MINUTE),
        command(Tick(source_id="tick:1", name=CLOSE_TURNS), START + 2 * ABANDONED_AFTER_MS),
        forget(2),
        say("The cat sleeps under the sofa.", "5"),
    ]


def topic_of(home: Home) -> list[bytes]:
    """Return the bytes of every record of `changes`, as they stand there."""
    return [record.value for record in home.ledger.read(CHANGES, PARTITION, 0, 1_000_000, ZONE)]


def append(home: Home, records: Sequence[bytes]) -> None:
    home.ledger.append(CHANGES, ZONE, records)


def accepted(home: Home) -> list[AcceptedChange]:
    reader = ChangeReader(home.ledger, ZONE, home.node.current(ZONE).chain)
    found: list[AcceptedChange] = []
    while changes := reader.read(1_000):
        found += changes
    return found


def fragments_of(home: Home, number: int) -> list[bytes]:
    """Return the records that hold an accepted change, where nothing lies between them."""
    ends = [-1, *(change.offset for change in accepted(home))]
    records = topic_of(home)[ends[number - 1] + 1 : ends[number] + 1]
    assert len(records) > 2
    return records


def decided_elsewhere(home: Home, number: int) -> list[bytes]:
    """Return the records that hold the change of an event as another worker decides it."""
    with copy_of(home) as copy:
        copy.drive()
        return fragments_of(copy, number)


def sound(home: Home) -> Verification:
    """Require that verify finds nothing, and that live, replica and derivation agree."""
    # A driver by itself leaves what an erasure owes to the node.
    home.drive()
    found = verify(home.node, ZONE)
    assert found.ok, found.problems
    agree(home)
    return found


def test_rows_in_a_row_with_the_same_sources_are_sealed_once(make_home: MakeHome) -> None:
    home = make_home()
    home.tell(*history())
    sound(home)
    for header, change in home.changes():
        for one, other in pairwise(change.parts):
            if one.sources == other.sources:
                # Deletes precede the rows of their part, so they begin another one.
                assert header.erased_events, header.number


# A zone whose records are split


def test_a_zone_whose_records_are_split_is_the_same_zone(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make_home("whole")
    whole.tell(*history())
    assert [read_change(value)[0].number for value in topic_of(whole)] == [*range(1, 10)]
    monkeypatch.setattr("recollect.streams.engine.zone_driver.MAX_FRAGMENT_BYTES", SMALL)
    home = make_home("home")
    home.tell(*history())
    assert len(topic_of(home)) > 3 * len(topic_of(whole))
    assert max(map(len, topic_of(home))) < SMALL + 100
    assert home.facts() == whole.facts()
    assert live(home) == live(whole)
    assert sound(home).void_records == 0
    for level in ("project", "derive", "fresh"):
        rebuild(home.node, ZONE, level)
        assert live(home) == live(whole), level
        sound(home)


@pytest.mark.parametrize("batch", slow_except((2,), (1, 2, 64)))
def test_batches_of_split_records(home: Home, make_home: MakeHome, small: None, batch: int) -> None:
    home.publish(*history())
    with home.driver(batch=batch) as driver:
        assert driver.run() == 9
    other = make_home("other")
    other.tell(*history())
    assert live(home) == live(other)
    sound(home)


@pytest.mark.parametrize(
    "name",
    slow_except(
        ("commit.produced", "commit.memory"),
        (
            *("commit.projected", "commit.produced", "commit.accepted", "commit.memory"),
            "outbox.appended",
        ),
    ),
)
def test_a_crash_at_a_step_of_a_commit_changes_nothing(
    home: Home, make_home: MakeHome, small: None, name: str
) -> None:
    undisturbed = make_home("undisturbed")
    undisturbed.tell(*history())
    home.publish(*history())
    crashes = 0
    for count in (1, 2):
        failpoints.arm(name, count)
        try:
            home.drive()
        except InjectedFailure:
            crashes += 1
        failpoints.disarm()
        home.restart()
    home.drive()
    assert crashes
    assert live(home) == live(undisturbed)
    sound(home)


def test_a_new_home_on_an_old_ledger_finds_the_chain_that_goes_furthest(
    home: Home, make_home: MakeHome, small: None
) -> None:
    home.tell(BERLIN, RED)
    rebuild(home.node, ZONE, "derive")
    home.tell(TEA)
    two = make_home("two", ledger=home.path)
    assert two.node.current(ZONE).chain == home.node.current(ZONE).chain
    assert two.drive() == 0
    assert live(two) == live(home)


def noise(seed: int, length: int) -> str:
    """Return text that no compression makes much smaller."""
    drawn = random.Random(seed)
    return "".join(chr(drawn.randrange(0x4E00, 0x9000)) for _ in range(length))


class Verbose:
    """An agent that decides more than two records can hold from a single word."""

    kinds = frozenset({"message"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        facts = [
            Fact(f"{event.id}/{index}", noise(index, 20_000), None, START, START, event.id, "{}",
                 START, f"verbose {event.number} {index}")
            for index in range(100)
        ]  # fmt: skip
        return [DecidedPart((event.number,), puts=list(facts))]


@pytest.mark.slow
def test_a_record_of_megabytes_is_split_as_kafka_needs_it(make_home: MakeHome) -> None:
    home = make_home("home", (*AGENTS, Verbose()))
    home.tell(TEA)
    records = topic_of(home)
    assert len(records) > 2
    assert max(map(len, records)) < MAX_FRAGMENT_BYTES + 100 < 1_048_576
    assert len(home.facts()) == 101
    sound(home)
    home.tell(forget(1), say("My bicycle is blue.", "after"))
    assert len(home.facts()) == 101
    sound(home)


# Writers that died, and writers beside each other


@pytest.mark.parametrize("came", [1, 2, -1])
def test_a_writer_that_dies_between_fragments_loses_and_doubles_nothing(
    home: Home, small: None, came: int
) -> None:
    home.tell(BERLIN)
    home.publish(RED)
    died = decided_elsewhere(home, 2)
    append(home, died[:came])
    home.restart()
    assert home.drive() == 1
    assert [number for number, _ in home.facts()] == [1, 1, 1, 2]
    assert sound(home).void_records == len(died[:came])
    # What it had sent arrives after all, and then once more.
    append(home, [*died[came:], *died])
    home.tell(TEA)
    assert [number for number, _ in home.facts()] == [1, 1, 1, 2, 3]
    agree(home)


def test_fragments_that_arrive_late_are_evolved_and_not_decided_again(
    home: Home, small: None
) -> None:
    home.tell(BERLIN)
    home.publish(RED)
    records = decided_elsewhere(home, 2)
    with home.driver() as driver:
        for record in records[:-1]:
            append(home, [record])
            driver.catch_up()
            assert len(accepted(home)) == 1
        append(home, records[-1:])
        assert driver.run() == 0
    assert [number for number, _ in home.facts()] == [1, 1, 1, 2]
    assert sound(home).void_records == 0


def test_a_redelivery_of_fragments_is_applied_once(home: Home, small: None) -> None:
    home.tell(BERLIN)
    home.publish(RED)
    first, second, *rest = decided_elsewhere(home, 2)
    append(home, [first, first, second, first, second, *rest])
    assert home.drive() == 0
    assert sound(home).void_records == 3


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_of_two_records_between_each_other_that_counts_which_is_whole_first(
    home: Home, small: None, ahead: int
) -> None:
    home.tell(BERLIN)
    home.publish(RED)
    one, other = decided_elsewhere(home, 2), decided_elsewhere(home, 2)
    assert one != other
    pairs = zip_longest(one, [b""] * ahead + other)
    append(home, [record for record in chain(*pairs) if record])
    assert home.drive() == 0
    # The other was not whole when this one was accepted, and never is.
    assert accepted(home)[1].offset == len(topic_of(home)) - 2 - ahead
    assert sound(home).void_records == len(other)
    home.tell(TEA)
    assert [number for number, _ in home.facts()] == [1, 1, 1, 2, 3]
    sound(home)


@pytest.mark.parametrize("batch", [1, 64])
def test_void_fragments_of_others_between_ours(
    home: Home,
    make_home: MakeHome,
    small: None,
    monkeypatch: pytest.MonkeyPatch,
    batch: int,
) -> None:
    """A record that was given up, a tail, a ghost that is whole, and a generation of its own."""
    home.tell(BERLIN)
    home.publish(*history()[1:])
    with copy_of(home) as copy:
        forge(copy, 2)
        ghost = split(topic_of(copy)[-1], SMALL)
    with copy_of(home) as copy:
        rebuild(copy.node, ZONE, "derive")
        generation = topic_of(copy)[len(topic_of(home)) :]
    given_up, tail = decided_elsewhere(home, 2)[:-1], decided_elsewhere(home, 3)[1:]
    others = chain(*zip_longest(given_up, tail, ghost, generation))
    strangers = (record for record in others if record is not None)
    unmeddled = home.ledger.append

    def meddled(topic: str, zone: str, values: Sequence[bytes]) -> None:
        for value in values:
            unmeddled(topic, zone, [value, *islice(strangers, 4)])

    monkeypatch.setattr(home.ledger, "append", meddled)
    with home.driver(batch=batch) as driver:
        driver.run()
    assert not list(strangers)
    undisturbed = make_home("undisturbed")
    undisturbed.tell(*history())
    assert live(home) == live(undisturbed)
    assert sound(home).void_records > len(given_up) + len(tail)


# What is accepted does not depend on where reading began


class Shelf(NamedTuple):
    """A topic of changes that holds these records and nothing else, and four events."""

    values: list[bytes]

    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        values = self.values if topic == CHANGES else EVENT_RECORDS
        found = enumerate(values[offset : offset + limit], offset)
        return [Record(at, ZONE, value) for at, value in found]

    def seek(self, zone: str, number: int) -> tuple[int, int, bytes]:
        return 0, 0, GENESIS

    def accepted(
        self, page: int, number: int = 0, offset: int = 0, hash: bytes = GENESIS
    ) -> list[tuple[int, int, bytes]]:
        """Return (number, offset, hash) of what a reader that starts there accepts."""
        reader = ChangeReader(cast(Ledger, self), ZONE, "main", number, offset, hash)
        found = []
        while changes := reader.read(page):
            found += [(change.header.number, change.offset, change.hash) for change in changes]
        return found


def four_events() -> list[bytes]:
    """The records of events 1 to 4, the key of each named by its number."""
    records: list[bytes] = []
    for number in range(1, 5):
        records.append(
            write_event(
                say("I like green tea.", str(number)),
                zone=ZONE,
                number=number,
                previous=record_hash(records[-1]) if records else GENESIS,
                ingested_at=0,
                source=bytes([number]),
                key_id=bytes([number]) * 16,
                key=bytes(32),
            )
        )
    return records


EVENT_RECORDS = four_events()


def a_change(number: int, previous: bytes, writer: int, chain: str = "main") -> bytes:
    event = record_hash(EVENT_RECORDS[number - 1])
    header = ChangeHeader(1, chain, ZONE, number, event, number - 1, previous, False, 0, ())
    part = Part((Source(number, bytes([number]) * 16),), bytes([writer]))
    return msgspec.msgpack.encode(ChangeRecord(msgspec.msgpack.encode(header), (part,)))


A1, B1 = (a_change(1, GENESIS, writer) for writer in (1, 2))
A2, C2 = (a_change(2, record_hash(A1), writer) for writer in (1, 3))
B2 = a_change(2, record_hash(B1), 2)
A3 = a_change(3, record_hash(A2), 1)
ELSEWHERE = a_change(1, GENESIS, 4, chain="elsewhere")
SPLIT = [split(value, 50) for value in (A1, B1, A2, C2, B2, A3, ELSEWHERE)]


@st.composite
def shelves(draw: st.DrawFn) -> Shelf:
    """What two to four writers append side by side, each some records or runs of fragments."""
    writers = []
    for _ in range(draw(st.integers(2, 4))):
        records: list[bytes] = []
        for held in draw(st.lists(st.sampled_from([*SPLIT, [A1], [A2], [B2]]), max_size=5)):
            whole = draw(st.integers(0, 3))
            start = 0 if whole else draw(st.integers(0, len(held) - 1))
            end = len(held) if whole else draw(st.integers(start, len(held)))
            records += held[start:end]
        writers.append(iter(records))
    turns = draw(st.lists(st.tuples(st.sampled_from(writers), st.integers(1, 6)), max_size=20))
    values = [record for writer, run in turns for record in islice(writer, run)]
    return Shelf(values + [record for writer in writers for record in writer])


@given(shelves(), st.integers(1, 9))
def test_pages_of_any_size_give_the_same(shelf: Shelf, page: int) -> None:
    assert shelf.accepted(page) == shelf.accepted(1_000)


@given(shelves(), st.integers(1, 9))
def test_a_reader_from_any_watermark_accepts_the_same(shelf: Shelf, page: int) -> None:
    everything = shelf.accepted(1_000)
    for index, (number, offset, hash_) in enumerate(everything, 1):
        assert shelf.accepted(page, number, offset + 1, hash_) == everything[index:]


def test_a_record_that_began_before_the_one_it_follows_was_accepted_is_void() -> None:
    """A reader that starts between the two would not see it whole."""
    one, two = split(A1, 50), split(A2, 50)
    shelf = Shelf([two[0], *one, *two[1:]])
    assert [number for number, _, _ in shelf.accepted(1_000)] == [1]
    assert [number for number, _, _ in Shelf(shelf.values + two).accepted(1_000)] == [1, 2]


@given(shelves())
def test_what_is_accepted_is_one_chain(shelf: Shelf) -> None:
    hashes = [hash_ for _, _, hash_ in shelf.accepted(1_000)]
    chains = [[A1, A2, A3], [A1, C2], [B1, B2]]
    assert any(hashes == [*map(record_hash, one)][: len(hashes)] for one in chains)


@given(shelves())
def test_a_record_that_follows_what_was_accepted_is_accepted(shelf: Shelf) -> None:
    """Whatever lies there: nobody is kept from going on."""
    before = shelf.accepted(1_000)
    number, _, previous = before[-1] if before else (0, 0, GENESIS)
    value = a_change(number + 1, previous, 9)
    grown = Shelf(shelf.values + split(value, 50))
    end = len(grown.values) - 1
    assert grown.accepted(1_000) == [*before, (number + 1, end, record_hash(value))]


# What was changed by hand


def position(offset: int) -> int:
    return (PARTITION << 40) + offset


def change_by_hand(home: Home, offset: int, value: bytes) -> None:
    home.close()
    connection = apsw.Connection(str(home.path / "ledger.db"))
    connection.execute("UPDATE changes SET value = ? WHERE position = ?", (value, position(offset)))
    assert connection.changes() == 1
    connection.close()
    home.open()


@pytest.mark.parametrize("share", slow_except((0.5,), [0.02, 0.1, 0.2, 0.5, 0.99]))
@pytest.mark.parametrize("index", [0, 1, -1])
def test_a_fragment_that_was_changed_is_named(
    home: Home, small: None, index: int, share: float
) -> None:
    home.tell(BERLIN, RED, TEA)
    offsets = range(accepted(home)[0].offset + 1, accepted(home)[1].offset + 1)
    value = bytearray(topic_of(home)[offsets[index]])
    value[int(len(value) * share)] ^= 1
    change_by_hand(home, offsets[index], bytes(value))
    found = verify(home.node, ZONE)
    assert not found.ledger_ok
    named = f"changes/{PARTITION} offset {offsets[index]}:"
    assert found.problems[0].startswith(named)
    with pytest.raises(IntegrityError, match=named):
        projected(home)


def test_a_fragment_in_the_place_of_another_is_found(home: Home, small: None) -> None:
    home.tell(BERLIN, RED, TEA)
    first = accepted(home)[0].offset + 1
    change_by_hand(home, first, topic_of(home)[first + 1])
    found = verify(home.node, ZONE)
    assert not found.ledger_ok
    assert any("change 3 does not follow change 1" in problem for problem in found.problems)


def test_a_fragment_that_is_missing_is_named(home: Home, small: None) -> None:
    home.tell(BERLIN, RED, TEA)
    offset = accepted(home)[0].offset + 1
    home.close()
    connection = apsw.Connection(str(home.path / "ledger.db"))
    connection.execute("DELETE FROM changes WHERE position = ?", (position(offset),))
    connection.close()
    home.open()
    found = verify(home.node, ZONE)
    assert not found.ledger_ok
    assert any(f"offset {offset} is missing" in problem for problem in found.problems)
