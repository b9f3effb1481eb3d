"""A replica answers as its ledger does, by itself, and forgets in time."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from recollect.home.home_directory import Home
from recollect.home.ledgers import open_following_node
from recollect.streams.engine.node import Node
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from tests.broker.kafka import Broker
from tests.kafka.conftest import Make
from tests.kafka.kit import (
    Recollect,
    bounds_of,
    files_holding,
    line,
    members_of,
    place_of,
    post_events,
    wait_until,
    with_admin,
    write,
)

SECRET = b"xylophone"
#: The partition of the zone "default", by murmur2.
PLACE = 7


def texts_of(home: Recollect, query: str, *more: str) -> list[str]:
    return [result["text"] for result in home.ask("recall", query, *more)["results"]]


def groups_of(url: str) -> set[str]:
    """Return every consumer group that the broker knows."""
    return {name for name, *_ in with_admin(url, lambda admin: admin.list_consumer_groups())}


def test_a_replica_belongs_to_no_group(make: Make, kafka_url: str) -> None:
    home, copy = make("a"), make("b")
    worker = home.worker()
    wait_until(lambda: len(members_of(kafka_url)) == 1, "the worker is a member")
    groups, members = groups_of(kafka_url), members_of(kafka_url)
    replica = copy.replica()
    post_events(kafka_url, "default", [line("m1", "The box is green.")])
    copy.wait_for("default", 1)
    assert members_of(kafka_url) == members
    ours = {name for name in groups_of(kafka_url) - groups if place_of(kafka_url).prefix in name}
    assert ours == set()
    assert (replica.stop(), worker.stop()) == (0, 0)
    assert "green" in texts_of(copy, "box")[0]


def test_what_was_ingested_elsewhere_is_recalled_once_its_token_is_reached(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    home, copy = make("a"), make("b")
    home.ask("status")
    replica = copy.replica()
    for number in range(3):
        event = line(f"m{number}", f"The number of the box is {number}.", number=number)
        token = home.ask("ingest", write(tmp_path / "e.jsonl", [event]))["token"]
        found = texts_of(copy, "Which number?", "--wait-for", token)
        assert any(f"is {number}." in text for text in found), found
    assert copy.hashes() == home.hashes()
    assert replica.stop() == 0
    verified = copy.ask("verify")
    assert verified["ok"], verified["problems"]


def test_a_token_that_is_not_reached_in_time_is_a_failed_check(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    home, copy = make("a"), make("b")
    home.ask("ingest", write(tmp_path / "e.jsonl", [line("m1", "The box is green.")]))
    replica = copy.replica()
    copy.wait_for("default", 1)
    # Published, and nobody decides it.
    path = write(tmp_path / "f.jsonl", [line("m2", "The box is heavy.")])
    token = home.ask("ingest", path, "--no-wait")["token"]
    ended = copy.run("recall", "box", "--wait-for", token, "--timeout", "1")
    assert ended.status == 1
    assert ended.output == ""
    assert ended.errors.count("\n") == 1
    for word in ("default", "record 1", "1 s", "2", "worker"):
        assert word in ended.errors
    # The turn itself is there before any agent has seen it.
    assert any("heavy" in text for text in texts_of(copy, "box"))
    assert replica.stop() == 0


@pytest.mark.parametrize("token", ["", "7:1", "7:1:x", "a:b:c", "7:1:1:1", "-7:1:1", "3:1:1"])
def test_what_is_no_token_of_the_zone_is_wrong_use(make: Make, token: str) -> None:
    home = make("a")
    home.ask("status")
    ended = home.run("recall", "box", "--wait-for", token)
    assert ended.status == 2
    assert "token" in ended.errors


def test_a_replica_answers_while_the_broker_is_down_and_goes_on_afterwards(
    own_broker: Broker, own_url: str, make_own: Make, tmp_path: Path
) -> None:
    home, copy = make_own("a"), make_own("b")
    home.ask("ingest", write(tmp_path / "e.jsonl", [line("m1", "The box is green.")]))
    replica = copy.replica()
    copy.wait_for("default", 1)
    own_broker.kill()
    assert any("green" in text for text in texts_of(copy, "box"))
    assert home.run("recall", "box").status == 1
    own_broker.start()
    path = write(tmp_path / "f.jsonl", [line("m2", "The box is heavy.")])
    token = home.ask("ingest", path)["token"]
    assert any("heavy" in text for text in texts_of(copy, "box", "--wait-for", token))
    assert replica.runs
    assert replica.stop() == 0, replica.errors


def test_a_replica_decides_nothing_and_says_what_it_waits_for(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    home, copy = make("a"), make("b")
    home.ask("ingest", write(tmp_path / "e.jsonl", [line("m1", "The box is green.")]))
    path = write(tmp_path / "f.jsonl", [line(f"m{n}", f"Box {n} is here.") for n in range(2, 5)])
    home.ask("ingest", path, "--no-wait")
    replica = copy.replica()
    copy.wait_for("default", 1)
    wait_until(lambda: len(copy.events()) == 4, "the turns are there")
    status = copy.ask("status")
    assert (status["lag"], status["stalled"]) == (3, False)
    assert status["lag_seconds"] > 0
    assert bounds_of(kafka_url, "changes")[PLACE] == (0, 1)
    assert replica.stop() == 0
    # Two minutes later, as far as its files can tell.
    earlier = (time.time_ns() // 1_000_000 - 120_000,)
    with closing(sqlite3.connect(copy.home / "driver.db")) as database, database:
        database.execute("UPDATE moves SET at = ?", earlier)
    with closing(sqlite3.connect(copy.home / "copy" / "ledger.db")) as database, database:
        database.execute("UPDATE events SET appended_at = ?", earlier)
    status = copy.ask("status")
    assert (status["lag"], status["stalled"]) == (3, True)
    assert status["lag_seconds"] >= 120
    assert "STALLED" in copy.run("status").output
    # Somebody does it.
    home.once()
    assert copy.ask("recall", "box")["results"]
    status = copy.ask("status")
    assert (status["lag"], status["lag_seconds"], status["stalled"]) == (0, 0, False)


def test_a_replica_that_is_there_first_waits_for_its_ledger(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    copy, home = make("b"), make("a")
    replica = copy.start("replica")
    wait_until(lambda: "start a worker" in replica.errors, lambda: f"it says so: {replica.errors}")
    assert sum(end for _, end in bounds_of(kafka_url, "keys")) == 0, "it has written"
    home.ask("ingest", write(tmp_path / "e.jsonl", [line("m1", "The box is green.")]))
    copy.wait_for("default", 1)
    assert replica.stop() == 0
    assert copy.hashes() == home.hashes()


def test_there_is_no_replica_of_an_embedded_ledger(make: Make) -> None:
    replica = make("alone", "embedded").start("replica")
    assert replica.ended() == 2
    assert "kafka://" in replica.errors


# Forgetting


def told(home: Recollect, path: Path) -> None:
    """Ingest something that is forgotten later, between what stays."""
    lines = [
        line("m1", "I moved to Berlin.", number=1),
        line("m2", f"The password of Ada is {SECRET.decode()}, therefore she hums.", number=2),
        line("m3", "The box is green.", number=3),
    ]
    home.ask("ingest", write(path, lines))


def nothing_left(home: Recollect) -> None:
    """Require that a home holds nothing of what was forgotten, and holds what was not."""
    assert home.events() == ["m1", "m3"]
    assert files_holding(home.home, SECRET) == []
    assert files_holding(home.home, b"green"), "the search finds what is there"


def keys_of(home: Recollect) -> set[bytes]:
    """Return the ids of the keys that a home has."""
    with closing(sqlite3.connect(home.home / "copy" / "keys.db")) as database:
        return {key_id for (key_id,) in database.execute("SELECT key_id FROM keys")}


def sealing(home: Recollect, number: int) -> bytes:
    """Return the id of the key of an event."""
    ((key_id,),) = home.query("events", f"SELECT key_id FROM seals WHERE number = {number}")
    return bytes(key_id)


@pytest.mark.parametrize("derived", [False, True], ids=["first", "with a generation kept"])
def test_what_is_forgotten_elsewhere_is_gone_from_every_file(
    make: Make, kafka_url: str, tmp_path: Path, derived: bool
) -> None:
    home, copy = make("a"), make("b")
    told(home, tmp_path / "e.jsonl")
    replica = copy.replica()
    copy.wait_for("default", 3)
    before = copy.generation()
    if derived:
        home.ask("rebuild", "--level", "derive")
        wait_until(lambda: copy.generation() != before, "the replica follows the new chain")
    assert files_holding(copy.home, SECRET)
    key = sealing(copy, 2)
    assert key in keys_of(copy)

    assert home.ask("forget", "m2")["forgotten"] == ["m2"]
    copy.wait_for("default", home.decided())
    wait_until(lambda: not files_holding(copy.home, SECRET), lambda: str(copy.home))
    nothing_left(copy)
    assert key not in keys_of(copy)
    assert len(keys_of(copy)) > 1
    assert texts_of(copy, "What is the password?") == [
        text for text in texts_of(home, "What is the password?") if SECRET.decode() not in text
    ]
    assert copy.hashes() == home.hashes()
    assert replica.stop() == 0
    nothing_left(copy)
    nothing_left(home)


def test_a_replica_that_comes_after_the_erasure_never_sees_it(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    home, late = make("a"), make("b")
    told(home, tmp_path / "e.jsonl")
    home.ask("forget", "m2")
    replica = late.replica()
    late.wait_for("default", home.decided())
    nothing_left(late)
    assert replica.stop() == 0
    nothing_left(late)
    assert late.hashes() == home.hashes()


@contextmanager
def step_by_step(home: Recollect) -> Iterator[tuple[Node, KafkaLedger]]:
    """A replica whose reading the test does, topic by topic."""
    with patch.dict(os.environ, home.environment(), clear=True):
        node, ledger = open_following_node(Home(home.home), decides=False)
    try:
        yield node, ledger
    finally:
        node.close()


ORDERS = {
    "changes, then events": (["changes"], ["events"]),
    "events, then changes": (["events"], ["changes"]),
    "both at once": (["events", "changes"],),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("known", [False, True], ids=["fresh", "with the event and its key"])
def test_an_erasure_reaches_a_replica_whatever_it_reads_first(
    make: Make, kafka_url: str, tmp_path: Path, order: tuple[list[str], ...], known: bool
) -> None:
    """It has the keys as they were before the erasure, and is told of their end by nobody."""
    home, copy = make("a"), make("b")
    told(home, tmp_path / "e.jsonl")
    with step_by_step(copy) as (node, ledger):
        if known:
            ledger.copy.refresh([("events", PLACE), ("changes", PLACE)])
            node.follow("default")
            assert files_holding(copy.home, SECRET)
        key = sealing(home, 2)
        assert ledger.keys.get([key]), "the replica has read the key"
        home.ask("forget", "m2")
        for topics in order:
            ledger.copy.refresh([(topic, PLACE) for topic in topics])
            node.follow("default")
        assert copy.decided() == home.decided()
    nothing_left(copy)
    assert key not in keys_of(copy)
    assert copy.hashes() == home.hashes()


def test_an_event_that_is_read_before_its_key_is_not_taken_for_erased(
    make: Make, kafka_url: str, tmp_path: Path
) -> None:
    home, copy = make("a"), make("b")
    told(home, tmp_path / "e.jsonl")
    with step_by_step(copy) as (node, ledger):
        assert ledger.keys.secret
        home.ask("ingest", write(tmp_path / "f.jsonl", [line("m4", "The cat is red.")]))
        ledger.copy.refresh([("events", PLACE), ("changes", PLACE)])
        node.follow("default")
    assert copy.events() == ["m1", "m2", "m3", "m4"]
    assert copy.hashes() == home.hashes()
