"""A zone that a newer program has written in stands still with its name; the others go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from recollect.home.home_directory import Home as MadeHome
from recollect.operations.processes.worker_processes import work
from recollect.schemas.errors import NewerFormat
from recollect.schemas.ledger import records
from recollect.schemas.ledger.records import write_event
from recollect.schemas.ledger.seal import event_key, new_key
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.ledger.ledger_file import Appended, LedgerFile
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.publishing.inbox import InboxRecord, ingest_records
from recollect.streams.records.timeline import Timeline
from recollect.streams.workers.zone_maintenance import WorkQueue
from tests.protocol.kit import ZONE, Home, in_memory, say

pack = msgspec.msgpack.encode

TODAY = records.EVENT_FORMAT
TOMORROW = TODAY + 1


@pytest.fixture
def home() -> Iterator[Home]:
    with in_memory() as path:
        made = Home(path / "home")
        yield made
        made.close()


def of_tomorrow(zone: str = ZONE) -> bytes:
    """Return a record of a form that nobody knows yet; its format comes first, as always."""
    return pack([pack([77, {"zone": zone}]), ["what this is, only a newer program knows"]])


def test_a_change_record_of_tomorrow_stops_its_zone_by_name(home: Home) -> None:
    home.tell(say("Ada lives in Berlin.", "1"))
    offset = home.ledger.end(CHANGES, partition_of(ZONE))
    home.ledger.append(CHANGES, ZONE, [of_tomorrow()])
    home.publish(say("Ada moved to Paris.", "2"))
    for _ in range(5):
        with pytest.raises(NewerFormat) as raised:
            home.drive()
    for said in (f"changes/{partition_of(ZONE)} offset {offset}", f"zone {ZONE}", "upgrade recoll"):
        assert said in str(raised.value)
    assert home.letters() == [], "nothing is parked for a reason that an upgrade mends"
    assert [number for number, _ in home.facts()] == [1]


def test_an_event_of_tomorrow_stops_its_zone_by_name(home: Home) -> None:
    home.tell(say("Ada lives in Berlin.", "1"))
    offset = home.ledger.end(EVENTS, partition_of(ZONE))
    home.ledger.append(EVENTS, ZONE, [of_tomorrow()])
    for attempt in (
        home.drive,
        lambda: home.node.project_turns(ZONE),
        Timeline(home.ledger, ZONE).refresh,
    ):
        with pytest.raises(NewerFormat) as raised:
            attempt()
        for said in (f"events/{partition_of(ZONE)} offset {offset}", f"zone {ZONE}"):
            assert said in str(raised.value)


def test_verify_names_what_it_cannot_read(home: Home) -> None:
    home.tell(say("Ada lives in Berlin.", "1"))
    home.ledger.append(CHANGES, ZONE, [of_tomorrow()])
    found = verify(home.node, ZONE)
    assert not found.ok
    assert any("format 77" in problem and "upgrade" in problem for problem in found.problems)


def test_nothing_is_written_after_what_cannot_be_read(home: Home) -> None:
    """Two programs would each go on from an end of their own, and one of them would lose it."""
    home.tell(say("Ada lives in Berlin.", "1"))
    home.ledger.append(EVENTS, ZONE, [of_tomorrow()])
    end = home.ledger.end(EVENTS, partition_of(ZONE))
    with pytest.raises(NewerFormat, match="upgrade recollect"):
        home.publish(say("Ada moved to Paris.", "2"))
    assert home.ledger.end(EVENTS, partition_of(ZONE)) == end
    assert home.publish(say("Somebody else.", "1"), zone="other")[0].status == "new"


def test_what_follows_an_event_of_tomorrow_is_not_void_and_counts_after_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An old worker's copy takes in what a newer one writes, and must not end a key of it."""
    values = []
    previous = records.GENESIS
    _, secret = new_key()
    for number in range(1, 5):
        source = number.to_bytes(16, "big")
        key_id, key = event_key(secret, ZONE, source)
        monkeypatch.setattr(records, "EVENT_FORMAT", TOMORROW if number == 2 else TODAY)
        values.append(
            write_event(
                say(f"Sentence {number}.", str(number)),
                zone=ZONE,
                number=number,
                previous=previous,
                ingested_at=1,
                source=source,
                key_id=key_id,
                key=key,
            )
        )
        previous = records.record_hash(values[-1])
    monkeypatch.setattr(records, "EVENT_FORMAT", TODAY)
    file = LedgerFile(tmp_path / "ledger.db", durable=False)
    for offset, value in enumerate(values):
        with file.writing():
            file.write(EVENTS, partition_of(ZONE), offset, [Appended(ZONE, value, 1)])
    assert file.head(ZONE).number == 1
    assert file.void_keys(partition_of(ZONE), secret) == []
    file.close()

    monkeypatch.setattr(records, "EVENT_FORMAT", TOMORROW)
    file = LedgerFile(tmp_path / "ledger.db", durable=False)
    head = file.head(ZONE)
    assert (head.number, head.hash) == (4, previous)
    assert file.chain_end(ZONE) == head
    assert file.void_keys(partition_of(ZONE), secret) == []
    assert [file.event_of_source(ZONE, n.to_bytes(16, "big")) for n in range(1, 5)] == values
    file.close()


def test_the_inbox_of_other_zones_is_taken_in(home: Home) -> None:
    home.tell(say("Ada lives in Berlin.", "1"))
    home.ledger.append(EVENTS, ZONE, [of_tomorrow()])

    def posted(zone: str) -> InboxRecord:
        event = {
            "platform": "chat",
            "sender_id": "ada",
            "occurred_at": 1_767_607_200_000,
            "content": f"This is for {zone}.",
        }
        return InboxRecord(zone.encode(), msgspec.json.encode(event), 1)

    with pytest.raises(NewerFormat, match=f"zone {ZONE}"):
        ingest_records(home.ledger, [posted("before"), posted(ZONE), posted("behind")])
    assert home.ledger.head("before").number == home.ledger.head("behind").number == 1


def test_a_worker_reports_the_zone_and_goes_on_with_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RECOLLECT_LEDGER", raising=False)
    made = MadeHome.create_or_open(tmp_path / "home", without_encoder=True)
    home = Home(tmp_path / "home")
    for zone in ("a", "b", "c"):
        home.publish(say("Ada lives in Berlin.", "1"), zone=zone)
    home.ledger.append(CHANGES, "b", [of_tomorrow("b")])
    home.close()
    told: dict[str, int | Exception] = {}
    work(made, told.__setitem__, once=True)
    assert told["a"] == told["c"] == 1
    assert isinstance(told["b"], NewerFormat)


def test_a_thread_that_keeps_zones_outlives_whatever_one_of_them_raises() -> None:
    """Also what nobody thought of: a dead thread would keep every zone waiting, and say nothing."""
    told: dict[str, int | Exception] = {}

    def work_on(zone: str) -> int:
        if zone == "bad":
            raise ZeroDivisionError("nobody thought of this")
        return 1

    lane = WorkQueue("test", 1, work_on, told.__setitem__)
    lane.start()
    try:
        lane.add(["bad"])
        wait_for(lambda: "bad" in told)
        lane.add(["good"])
        wait_for(lambda: "good" in told)
    finally:
        lane.stop()
    assert isinstance(told["bad"], ZeroDivisionError)
    assert told["good"] == 1


def wait_for(done: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if done():
            return
        time.sleep(0.005)
    raise AssertionError("it does not happen")
