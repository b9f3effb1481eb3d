"""The inbox: what any client publishes is sequenced once, parked once, or both never fatal."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from aiokafka import AIOKafkaProducer, codec
from aiokafka.record._crecords import default_records
from aiokafka.record.default_records import DefaultRecordBatch

from tests.kafka.conftest import Make
from tests.kafka.kit import (
    Posting,
    Recollect,
    bounds_of,
    files_holding,
    line,
    place_of,
    post,
    post_events,
    records_of,
    run,
    truncate,
    wait_until,
    write,
)


def emptied(url: str) -> bool:
    return all(start == end for start, end in bounds_of(url, "inbox"))


def taken_in(home: Recollect, url: str) -> None:
    """Wait until everything that was published is sequenced, decided and deleted."""
    wait_until(lambda: emptied(url), lambda: f"the inbox is empty: {bounds_of(url, 'inbox')}")
    for zone, count in numbers_of(url).items():
        home.wait_for(zone, count)


def numbers_of(url: str) -> Counter[str]:
    """Return how many events the ledger has, by zone: one record each, where nobody races."""
    return Counter(record.key.decode() for record in records_of(url, "events") if record.key)


def test_what_a_plain_client_publishes_can_be_recalled(make: Make, kafka_url: str) -> None:
    home = make("a")
    worker = home.worker()
    post_events(kafka_url, "tenant-1", [line("m1", "The box is green.", thread_id="t")])
    post_events(kafka_url, "tenant-2", [line("m1", "The cat is red.")])
    taken_in(home, kafka_url)
    first = home.ask("--zone", "tenant-1", "recall", "Which box?")["results"]
    assert [result["source_event_ids"] for result in first] == [["m1"]]
    assert home.ask("--zone", "tenant-1", "recall", "cat")["results"] == []
    assert worker.stop() == 0


def test_events_of_a_zone_keep_the_order_of_the_inbox(make: Make, kafka_url: str) -> None:
    home = make("a")
    home.ask("status")
    wanted = [f"m{number * 37 % 101}" for number in range(100)]
    post_events(kafka_url, "z", [line(id_, f"Box {id_} is here.") for id_ in wanted])
    home.once()
    assert home.events("z") == wanted
    assert emptied(kafka_url)


def test_an_event_that_comes_twice_is_one(make: Make, kafka_url: str, tmp_path: Path) -> None:
    home = make("a")
    home.ask("ingest", write(tmp_path / "e.jsonl", [line("m1", "The box is green.")]))
    again = line("m1", "The box is green.", sender_name="Ada")
    post_events(kafka_url, "default", [again, again, line("m2", "The box is old."), again])
    home.once()
    assert home.events() == ["m1", "m2"]
    assert home.letters("default") == []


# What cannot be understood

GOOD = json.dumps(line("good", "The box is green.")).encode()
DEEP = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
UNREADABLE: dict[str, tuple[Posting, str, str]] = {
    # name -> the record, the zone where it is parked, what the reason says
    "not JSON": ((b"z", b"{not json"), "z", "not JSON"),
    "half an object": ((b"z", GOOD[:-9]), "z", "not JSON"),
    "no object": ((b"z", b"[]"), "z", "object"),
    "an object without its fields": ((b"z", b"{}"), "z", "platform"),
    "empty": ((b"z", b""), "z", "not JSON"),
    "not UTF-8": ((b"z", b'{"platform": "\xff\xfe"}'), "z", "UTF-8"),
    "an unknown kind": ((b"z", GOOD[:-1] + b', "kind": "dance"}'), "z", "kind 'dance'"),
    "a command": ((b"z", GOOD[:-1] + b', "kind": "forget"}'), "z", "kind 'forget'"),
    "the platform of commands": (
        (b"z", json.dumps(line("forget:1", "First.", platform="recollect")).encode()),
        "z",
        "reserved for commands",
    ),
    "the platform of commands in disguise": (
        (b"z", json.dumps(line("tick:1", "First.", platform=" Recollect\u3000")).encode()),
        "z",
        "reserved for commands",
    ),
    "more than a mebibyte": ((b"z", GOOD[:-1] + b" " * 1_048_576 + b"}"), "z", "1048576"),
    "nested deeply": ((b"z", DEEP), "z", "deep"),
    "nested deeply in metadata": (
        (b"z", GOOD[:-1] + b', "metadata": ' + DEEP[: 5 * 99] + b"1" + b"}" * 100),
        "z",
        "deep",
    ),
    "no key": ((None, GOOD), "unaddressed", "zone"),
    "an empty key": ((b"", GOOD + b" "), "unaddressed", "zone"),
    "a key that names no zone": ((b"no zone!", GOOD), "unaddressed", "no zone!"),
    "a way out of the home": ((b"../../zones", GOOD), "unaddressed", "../../zones"),
    "a key that is not UTF-8": ((b"\xff\xfe", GOOD), "unaddressed", "UTF-8"),
}


def test_what_cannot_be_understood_is_parked_once_however_often_it_is_read(
    make: Make, kafka_url: str
) -> None:
    """Two sequencers read the same records, as after a death before they were deleted."""
    first, second = make("a"), make("b")
    first.ask("status")
    postings = [posting for posting, _, _ in UNREADABLE.values()]
    post(kafka_url, "inbox", postings)
    first.once()
    # The records again, as somebody finds them who does not know that they were read.
    post(kafka_url, "inbox", postings)
    post_events(kafka_url, "z", [line("last", "The box is closed.")])
    worker = second.worker()
    taken_in(second, kafka_url)
    assert worker.runs, worker.errors
    for zone in ("z", "unaddressed"):
        wanted = [(name, says) for name, (_, at, says) in UNREADABLE.items() if at == zone]
        letters = second.ask("--zone", zone, "deadletters")["dead_letters"]
        for name, says in wanted:
            assert any(says in str(letter) for letter in letters), f"{name}: {letters}"
        assert len(letters) == len(wanted), letters
    assert second.events("z") == ["last"]
    assert worker.stop() == 0


@pytest.mark.parametrize("at", [0, -1, 1])
def test_a_record_of_a_strange_time_is_parked(make: Make, kafka_url: str, at: int) -> None:
    home = make("a")
    home.ask("status")
    post(kafka_url, "inbox", [(b"z", b"{not json")], timestamp_ms=at)
    home.once()
    assert len(home.letters("z")) == 1


def test_another_event_of_the_same_id_is_parked_and_the_first_stays(
    make: Make, kafka_url: str
) -> None:
    home = make("a")
    home.ask("status")
    other = line("m1", "The box is red.")
    post_events(kafka_url, "z", [line("m1", "The box is green."), other])
    home.once()
    post_events(kafka_url, "z", [other])
    home.once()
    ((_, reason),) = home.letters("z")
    assert "conflict" in reason
    assert "'m1'" in reason
    assert "chat" in reason
    assert home.query("events", "SELECT content FROM events", "z") == [("The box is green.",)]


def test_a_parked_record_can_be_dropped_and_never_comes_back(make: Make, kafka_url: str) -> None:
    home = make("a")
    home.ask("status")
    post(kafka_url, "inbox", [(b"z", b"{not json")])
    home.once()
    (letter,) = home.ask("--zone", "z", "deadletters")["dead_letters"]
    assert letter["kind"] == "park"
    assert home.ask("--zone", "z", "deadletters", "drop", str(letter["number"]))["done"]
    post(kafka_url, "inbox", [(b"z", b"{not json")])
    home.once()
    assert home.ask("--zone", "z", "deadletters")["dead_letters"] == []


@contextmanager
def snappy() -> Iterator[None]:
    """Let aiokafka write what it cannot read here: batches compressed by Snappy, all literals."""

    def encode(data: Any) -> bytes:
        text = bytes(data)
        length, left = bytearray(), len(text)
        while left > 0x7F:
            length.append(left & 0x7F | 0x80)
            left >>= 7
        length.append(left)
        parts = [text[start : start + 65_536] for start in range(0, len(text), 65_536)]
        literals = [b"\xf4" + (len(part) - 1).to_bytes(2, "little") + part for part in parts]
        return bytes(length) + b"".join(literals)

    assert not codec.has_snappy(), "it can be read here after all"
    known = {"snappy": (lambda: True, DefaultRecordBatch.CODEC_SNAPPY)}
    with (
        patch.dict(AIOKafkaProducer._COMPRESSORS, known),
        patch.object(codec, "has_snappy", lambda: True),
        patch.object(default_records, "snappy_encode", encode),
    ):
        yield


def test_a_client_may_compress_as_it_likes(make: Make, kafka_url: str) -> None:
    home = make("a")
    home.ask("status")
    event = json.dumps(line("m1", "The box is green.")).encode()
    post(kafka_url, "inbox", [(b"z", event)], producer={"compression_type": "gzip"})
    with snappy():
        event = json.dumps(line("m2", "The box is heavy. " * 9_000)).encode()
        post(kafka_url, "inbox", [(b"z", event)], producer={"compression_type": "snappy"})
    home.once()
    assert home.events("z") == ["m1", "m2"]
    assert emptied(kafka_url)


def test_a_record_that_is_small_only_while_compressed_is_parked(make: Make, kafka_url: str) -> None:
    home = make("a")
    home.ask("status")
    compressed = {"compression_type": "gzip", "max_request_size": 64_000_000}
    event = line("m1", "The box is green.", direction="x" * 900_000, metadata={"a": " " * 100_000})
    postings = [(b"z", b" " * 9_000_000), (b"z", json.dumps(event).encode())]
    post(kafka_url, "inbox", postings, producer=compressed)
    post_events(kafka_url, "z", [line("m2", "The box is closed.")])
    home.once()
    assert emptied(kafka_url)
    assert home.events("z") == ["m2"]
    first, second = home.letters("z")
    assert "too long; the maximum is 1048576 bytes" in first[1]
    assert "direction" in second[1] or "xxx" in second[1]
    assert len(second[1]) <= 1_000


# What is left of it


def test_the_inbox_forgets_what_the_ledger_has(make: Make, kafka_url: str) -> None:
    """Nothing is left there of an event that is forgotten later, nor comes back from there."""
    home = make("a")
    worker = home.worker()
    secret = line("m1", "The password is xylophone.")
    post_events(kafka_url, "default", [secret, line("m2", "The box is green.")])
    taken_in(home, kafka_url)
    assert bounds_of(kafka_url, "inbox")[7] == (2, 2)
    assert home.ask("forget", "m1")["forgotten"] == ["m1"]
    # A client that did not hear that it was taken publishes it again.
    post_events(kafka_url, "default", [secret])
    taken_in(home, kafka_url)
    assert home.events() == ["m2"]
    for topic in ("inbox", "events", "changes", "keys"):
        assert not any(
            b"xylophone" in (record.value or b"") for record in records_of(kafka_url, topic)
        )
    assert worker.stop() == 0
    assert files_holding(home.home, b"xylophone") == []
    assert files_holding(home.home, b"green")


def test_what_was_parked_is_forgotten_as_well(make: Make, kafka_url: str) -> None:
    """Edits go with their message, a record that nobody can read by its number."""
    home = make("a")
    worker = home.worker()
    green, edited = line("m1", "The box is green."), line("m1", "My PIN is xylophone.")
    post_events(kafka_url, "default", [green, edited, line("m2", "The box is old.")])
    post(kafka_url, "inbox", [(b"default", b"{marimba")])
    taken_in(home, kafka_url)
    by_reason = sorted(home.letters("default"), key=lambda letter: "conflict" in letter[1])
    assert len(by_reason) == 2
    # It is dropped first, which erases nothing.
    assert home.ask("deadletters", "drop", str(by_reason[1][0]))["done"]
    assert home.ask("forget", f"#{by_reason[0][0]}")["events"] == 1
    gone = home.ask("forget", "m1")
    assert (gone["forgotten"], gone["events"]) == (["m1"], 2)
    assert home.ask("forget", "m1")["already_forgotten"] == ["m1"]
    assert home.letters("default") == []
    assert worker.stop() == 0
    assert home.ask("deadletters")["dead_letters"] == []
    assert home.ask("verify")["ok"]
    assert files_holding(home.home, b"xylophone", b"marimba") == []
    assert home.events() == ["m2"]


def test_a_client_that_uses_transactions_is_understood(make: Make, kafka_url: str) -> None:
    """The marker at their end takes an offset in the inbox, and is no record."""
    home = make("a")
    home.ask("status")
    place = place_of(kafka_url)

    async def transact() -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=place.address, transactional_id=f"{place.prefix}-t"
        ) as producer:
            for number in range(2):
                async with producer.transaction():
                    event = json.dumps(line(f"m{number}", f"The box number {number} is green."))
                    await producer.send(place.topic("inbox"), event.encode(), b"z")

    run(transact())
    home.once()
    assert home.events("z") == ["m0", "m1"]
    home.once()
    assert emptied(kafka_url)
    worker = home.worker()
    run(transact())
    post_events(kafka_url, "z", [line("m9", "The box is old.")])
    home.wait_for("z", 3)
    assert home.events("z") == ["m0", "m1", "m9"]
    assert worker.stop() == 0


def test_what_a_producer_aborted_was_never_said(make: Make, kafka_url: str) -> None:
    """Nor does one that does not end hold up anything but what comes after it."""
    home = make("a")
    home.ask("status")
    place = place_of(kafka_url)

    async def send(producer: AIOKafkaProducer, id_: str) -> None:
        event = json.dumps(line(id_, "The password is xylophone."))
        await producer.send_and_wait(place.topic("inbox"), event.encode(), b"z")

    async def abort(name: str) -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=place.address, transactional_id=f"{place.prefix}-{name}"
        ) as producer:
            await producer.begin_transaction()
            await send(producer, f"aborted-{name}")
            await producer.abort_transaction()

    async def look_while_one_is_open() -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=place.address, transactional_id=f"{place.prefix}-open"
        ) as producer:
            await producer.begin_transaction()
            await send(producer, "m2")
            await asyncio.to_thread(post_events, kafka_url, "z", [line("m3", "The box is red.")])
            await asyncio.to_thread(home.once)
            assert home.events("z") == ["m1"]
            await producer.commit_transaction()

    run(abort("1"))
    post_events(kafka_url, "z", [line("m1", "The box is green.")])
    run(look_while_one_is_open())
    run(abort("2"))
    home.once()
    assert home.events("z") == ["m1", "m2", "m3"]
    assert emptied(kafka_url)
    worker = home.worker()
    run(abort("3"))
    post_events(kafka_url, "z", [line("m4", "The box is old.")])
    home.wait_for("z", 4)
    assert home.events("z") == ["m1", "m2", "m3", "m4"]
    assert worker.stop() == 0


def test_records_that_were_deleted_unread_stop_nobody(make: Make, kafka_url: str) -> None:
    """The others are taken in, and what is missing is said, in the worker's log and for good."""
    home = make("a")
    home.ask("status")
    post_events(kafka_url, "default", [line(f"m{n}", f"Box {n} is here.") for n in range(5)])
    truncate(kafka_url, "inbox", {7: 3})
    worker = home.worker()
    taken_in(home, kafka_url)
    assert home.events() == ["m3", "m4"]
    ((_, reason),) = home.letters("unaddressed")
    assert "3 records were deleted" in reason
    assert "inbox/7 begins at offset 3" in worker.errors
    assert worker.stop() == 1


# Several who read it


def test_two_sequencers_at_once_lose_and_double_nothing(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    """A worker takes events from the inbox while the same ones are imported elsewhere."""
    zones = ("z1", "z2", "default")
    lines = [line(f"m{n}", f"Box {n} is here.", number=n) for n in range(300)]
    path = write(tmp_path / "e.jsonl", lines)
    home, other, third = make("a"), make("b"), make("c")
    worker = home.worker()
    for zone in zones:
        post_events(kafka_url, zone, lines)
    imports = [other.start("--zone", zone, "ingest", path, "--json") for zone in zones]
    third.once()
    assert [each.ended() for each in imports] == [0, 0, 0], [each.errors for each in imports]
    wait_until(lambda: emptied(kafka_url), "the inbox is empty")
    for zone in zones:
        home.wait_for(zone, len(lines))
        assert sorted(home.events(zone)) == sorted(item["id"] for item in lines)
        assert home.letters(zone) == []
    assert worker.stop() == 0
    for zone in zones:
        verified = home.ask("--zone", zone, "verify")
        assert verified["ok"], verified["problems"]


def test_the_inbox_does_not_hold_up_a_worker_that_ends(make: Make, kafka_url: str) -> None:
    """Whoever publishes on does not keep it from ending, nor others from taking over."""
    first, second = make("a"), make("b")
    leaving = first.worker()
    lines = [line(f"m{n}", f"Box {n} is here.", number=n) for n in range(600)]
    zones = [f"z{n}" for n in range(6)]
    for zone in zones:
        post_events(kafka_url, zone, lines[:300])
    wait_until(lambda: any(first.events(zone) for zone in zones), "it is at work")
    for zone in zones:
        post_events(kafka_url, zone, lines[300:])
    assert leaving.stop() == 0, leaving.errors
    assert "could not be handled" not in leaving.errors
    assert "killed" not in leaving.errors
    # Enough to see that nothing was lost: the second brings the topics up to date, and ends.
    second.once()
    wanted = sorted(item["id"] for item in lines)
    for zone in zones:
        assert sorted(second.events(zone)) == wanted
