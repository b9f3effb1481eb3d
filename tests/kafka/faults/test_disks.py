"""What the brokers' disks hold: all that was acknowledged, and nothing of what was erased."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from aiokafka.record import MemoryRecords

from tests.broker.fixture import SCHEME
from tests.broker.kafka import Broker
from tests.kafka.conftest import Make, _make
from tests.kafka.kit import (
    Recollect,
    bounds_of,
    line,
    post,
    post_events,
    records_of,
    truncate,
    wait_until,
)

pytestmark = pytest.mark.kafka

#: The partition of the zone "default", by murmur2.
PLACE = 7
JANUARY_2024 = 1_704_067_200_000
# What production does in minutes: segments are rolled after two seconds.
QUICKLY = {"RECOLLECT_KAFKA_ERASE_SECONDS": "6"}


@pytest.fixture(scope="module")
def broker_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that looks for what it may delete every half second, not every five minutes."""
    broker = Broker(
        tmp_path_factory.mktemp("disks"), extra={"log.retention.check.interval.ms": "500"}
    )
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def url(broker_data: Broker, request: pytest.FixtureRequest) -> str:
    return f"{SCHEME}{broker_data.address}/{request.node.name.replace('_', '-')[5:35]}"


@pytest.fixture
def make_quick(url: str, room: Path) -> Iterator[Make]:
    yield from _make(room, url)


def holds(broker: Broker, needle: bytes) -> list[str]:
    """Return the files of a broker that hold some bytes, in a batch that is compressed or not."""
    found = []
    for path in broker.data.rglob("*"):
        try:
            content = path.read_bytes() if path.is_file() else b""
        except FileNotFoundError:
            continue
        if needle in content or (".log" in path.name and needle in unpacked(content)):
            found.append(str(path.relative_to(broker.data)))
    return found


def unpacked(content: bytes) -> bytes:
    """Return the keys and values of all records of a segment's file."""
    batches, said = MemoryRecords(content), []
    while batches.has_next():
        batch = batches.next_batch()
        assert batch is not None
        said += [part for record in batch for part in (record.key, record.value) if part]
    return b"\n".join(said)


def key_of(home: Recollect, url: str, number: int) -> bytes:
    """Return the key of an event, as this home's copy has it."""
    for record in records_of(url, "events"):
        clear, _ = msgspec.msgpack.decode(record.value or b"")
        envelope = msgspec.msgpack.decode(clear)
        if envelope[2] == number:
            with closing(sqlite3.connect(home.home / "copy" / "keys.db")) as file:
                ((key,),) = file.execute("SELECT key FROM keys WHERE key_id = ?", (envelope[9],))
            return bytes(key)
    raise AssertionError(f"there is no event {number}")


def test_what_was_erased_leaves_the_disks_though_nothing_else_is_written(
    broker_data: Broker, make_quick: Make, url: str
) -> None:
    home = make_quick("a", **QUICKLY)
    home.ask("status")
    post_events(
        url, "default", [line("m1", "The password is xylophone."), line("m2", "A vuvuzela")]
    )
    assert holds(broker_data, b"xylophone"), "a message lies in the inbox before it is taken in"
    worker = home.worker()
    home.wait_for("default", 2)
    one, two = key_of(home, url, 1), key_of(home, url, 2)
    assert holds(broker_data, one)

    assert home.ask("forget", "m1")["forgotten"] == ["m1"]
    wait_until(
        lambda: not any(holds(broker_data, each) for each in (one, b"xylophone", b"vuvuzela")),
        lambda: f"all of it is gone: {[holds(broker_data, e) for e in (one, b'xylophone')]}",
    )
    assert worker.stop() == 0, worker.errors
    assert holds(broker_data, two), "what nobody erased stays"

    # Where no worker runs, the next one finds what is left to do, in whichever home.
    assert home.ask("forget", "m2")["forgotten"] == ["m2"]
    other = make_quick("b", **QUICKLY)
    successor = other.worker()
    wait_until(lambda: not holds(broker_data, two), lambda: f"{holds(broker_data, two)}")
    assert successor.stop() == 0, successor.errors

    # What keeps the brokers at it is no event, and nobody's mistake.
    post_events(url, "default", [line("m3", "The box is green.")])
    other.once()
    assert other.events() == ["m3"]
    assert other.ask("verify")["ok"]
    assert "unaddressed" not in other.zones()


def test_what_was_acknowledged_stays_whatever_time_a_client_stamps_and_however_long(
    make_quick: Make, url: str
) -> None:
    home = make_quick("a")
    home.ask("status")
    old = [(b"default", msgspec.json.encode(line(f"m{n}", f"Box {n} is here."))) for n in range(3)]
    post(url, "inbox", [*old, (b"default", b"{not json")], timestamp_ms=JANUARY_2024)
    # The broker looks for what it may delete several times in this time.
    time.sleep(3)
    home.once()
    assert home.events() == ["m0", "m1", "m2"]
    # When it came is not what a client says of it.
    ((at,),) = home.query("memory", "SELECT parked_at FROM dead_letters")
    assert at > JANUARY_2024


def test_what_was_deleted_unread_is_said_and_parked_and_nothing_else_is(
    make_quick: Make, url: str
) -> None:
    home, other = make_quick("a"), make_quick("b")
    home.ask("status")
    post_events(url, "default", [line(f"m{n}", f"Box {n} is here.") for n in range(5)])
    truncate(url, "inbox", {PLACE: 3})
    ended = home.run("worker", "--once")
    for said in (f"inbox/{PLACE} begins at offset 3", "before offset 0", "3 records"):
        assert said in ended.errors
    assert home.events() == ["m3", "m4"]
    ((_, reason),) = home.letters("unaddressed")
    assert "3 records" in reason
    # What another sequencer took in and deleted is nobody's loss.
    worker = other.worker()
    post_events(url, "default", [line("m5", "Box 5 is here.")])
    other.wait_for("default", 3)
    wait_until(lambda: all(start == end for start, end in bounds_of(url, "inbox")), "it is empty")
    home.once()
    assert "deleted" not in worker.errors
    assert worker.stop() == 0
    late = make_quick("c")
    late.once()
    assert len(late.letters("unaddressed")) == 1
