"""Whoever may write the topics may append anything; a zone goes on, and every node agrees."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest

from tests.kafka.conftest import Make
from tests.kafka.kit import line, post, post_events, records_of, wait_until

ZONE = b"default"


def decoded(value: bytes | None) -> list[Any]:
    """Return the clear part of a record, as plain lists."""
    assert value is not None
    clear, _ = msgspec.msgpack.decode(value)
    fields: list[Any] = msgspec.msgpack.decode(clear)
    return fields


@pytest.mark.parametrize("wrong", ["event_hash", "erases"])
def test_a_change_record_without_parts_stops_no_worker_and_destroys_no_key(
    make: Make, kafka_url: str, wrong: str
) -> None:
    """It stands where the honest one would: right number, right forerunner."""
    home, copy = make("a"), make("b")
    home.once()
    post_events(kafka_url, "default", [line("m1", "I like green tea.")])
    home.once()
    (event,) = records_of(kafka_url, "events")
    (before,) = records_of(kafka_url, "changes")
    assert event.value is not None
    assert before.value is not None
    header = decoded(before.value)
    # format, chain, zone, number, event_hash, event_offset, previous, parked, asks, erases
    header[3], header[6] = 2, hashlib.sha256(before.value).digest()
    if wrong == "erases":
        header[9] = [[1, decoded(event.value)[9]]]
    keys = len(records_of(kafka_url, "keys"))
    forged = msgspec.msgpack.encode([msgspec.msgpack.encode(header), []])
    post(kafka_url, "changes", [(ZONE, forged)], partition=before.partition)
    worker, replica = home.worker(), copy.replica()
    post_events(kafka_url, "default", [line("m2", "We painted the kitchen red.")])
    for one in (home, copy):
        one.wait_for("default", 2)
    wait_until(lambda: home.hashes() == copy.hashes(), "both agree")
    assert home.query("memory", "SELECT count(*) FROM facts") == [(2,)]
    assert (replica.stop(), worker.stop()) == (0, 0)
    # That of the second event came; none went.
    added = records_of(kafka_url, "keys")[keys:]
    assert all(record.value for record in added)
    found = home.run("verify", "--json")
    assert found.status == 1
    (problem,) = found.json()["problems"]
    assert problem.startswith(f"changes/{before.partition} offset 1: change 2 ")
    assert all(model["ok"] for model in found.json()["models"])
    assert [result["text"] for result in copy.ask("recall", "kitchen")["results"]]


def test_reclaim_refuses_where_records_are_never_changed(make: Make, kafka_url: str) -> None:
    home = make("a")
    home.once()
    post_events(kafka_url, "default", [line("m1", "I like green tea.")])
    home.once()
    ended = home.run("reclaim")
    assert ended.status == 2
    assert "embedded ledger" in ended.errors
    assert "Traceback" not in ended.errors
