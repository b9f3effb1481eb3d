"""What the storm found, each as a test of its own: what the last owner of a zone left undone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect.schemas.errors import InjectedFailure
from recollect.schemas.events import Draft, Message, Tick
from recollect.streams.agents.turn_closer import CLOSE_TURNS
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.engine.node import Node
from recollect.streams.ledger import CHANGES, EVENTS, partition_of
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.records.chain_readers import EventReader
from recollect.streams.system.failpoints import arm, disarm
from recollect.streams.workers.zone_maintenance import ZoneMaintenance

ZONE = "ada"
PLACE = partition_of(ZONE)
HOUR_MS = 3_600_000


def no_encoder():
    raise AssertionError("no text is embedded here")


@contextmanager
def node(directory: Path, url: str, *, follows: bool = False) -> Iterator[tuple[Node, KafkaLedger]]:
    """A node without an encoder."""
    directory.mkdir(exist_ok=True)
    ledger = KafkaLedger(KafkaSettings.read(url, {}), directory / "copy", follows=follows)
    made = Node(directory, ledger, EncoderGateway(None, 0, no_encoder))
    try:
        yield made, ledger
    finally:
        made.close()


def report(zone: str, moved: int | Exception) -> None:
    assert not isinstance(moved, Exception), (zone, moved)


def say(id: str, turn: str | None = None) -> Draft:
    message = Message(source_id=id, sender_id="U1", content="I moved to Porto.", turn_id=turn)
    return Draft(platform="chat", occurred_at=HOUR_MS, payload=message)


def tick(hours: int) -> Draft:
    payload = Tick(source_id=f"tick:{CLOSE_TURNS}:{hours}", name=CLOSE_TURNS)
    return Draft(platform="recollect", occurred_at=hours * HOUR_MS, payload=payload)


def kinds(ledger: KafkaLedger) -> list[str]:
    """Return the kinds of the zone's events."""
    reader, found = EventReader(ledger, ZONE), []
    while records := reader.read(100):
        found += [record.kind for record in records]
    return found


def within(seconds: float, what: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not (true := what()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return true


def test_commands_that_the_last_owner_did_not_append_are_appended_by_the_next(kafka_url, tmp_path):
    with node(tmp_path / "first", kafka_url) as (first, ledger):
        ledger.publish(ZONE, [say("m1", "t1"), tick(9)])
        # It dies when its change records are there.
        arm("commit.accepted")
        try:
            with pytest.raises(InjectedFailure):
                first.drive(ZONE)
        finally:
            disarm()
    with (
        node(tmp_path / "next", kafka_url, follows=True) as (following, ledger),
        ZoneMaintenance(following, ledger, report, follow_all=False) as upkeep,
    ):
        # It has followed the zone to the end before the partition comes over.
        ledger.copy.refresh([(EVENTS, PLACE), (CHANGES, PLACE)])
        assert following.follow(ZONE) == 2
        assert kinds(ledger) == ["message", "tick"]
        upkeep.set_partitions([PLACE])
        # Nobody else brings events here.
        ledger.copy.hand_over(())
        assert within(60, lambda: len(kinds(ledger)) == 3)
        assert kinds(ledger) == ["message", "tick", "close_turn"]


def test_a_zone_whose_partition_goes_while_its_files_are_made_is_followed(
    kafka_url, tmp_path, monkeypatch
):
    with node(tmp_path / "first", kafka_url) as (first, own):
        own.publish(ZONE, [say("m1"), say("m2"), say("m3")])
        first.drive(ZONE)
        with (
            node(tmp_path / "late", kafka_url, follows=True) as (late, ledger),
            ZoneMaintenance(late, ledger, report, follow_all=False) as upkeep,
        ):
            ledger.copy.refresh([(EVENTS, PLACE), (CHANGES, PLACE)])
            drive = late.drive

            def gone(zone: str, **options: Any) -> int:
                upkeep.set_partitions([])
                return drive(zone, **options)

            monkeypatch.setattr(late, "drive", gone)
            upkeep.set_partitions([PLACE])
            assert within(60, lambda: late.zones() == [ZONE])
            assert within(60, lambda: late.decided_up_to(ZONE) == 3)


def test_what_was_decided_before_its_event_was_copied_is_no_gap(kafka_url, tmp_path):
    with node(tmp_path / "next", kafka_url, follows=True) as (following, ledger):
        ledger.connect()
        with node(tmp_path / "first", kafka_url) as (first, own):
            own.publish(ZONE, [say("m1")])
            first.drive(ZONE)
            ledger.copy.refresh([(EVENTS, PLACE), (CHANGES, PLACE)])
            own.publish(ZONE, [say("m2"), say("m3")])
            first.drive(ZONE)
        # The changes come here before the events that they tell of.
        ledger.copy.refresh([(CHANGES, PLACE)])
        following.follow(ZONE)
        following.drive(ZONE)
        # Whether they count is said by the events.
        ledger.copy.refresh([(EVENTS, PLACE)])
        following.follow(ZONE)
        assert following.decided_up_to(ZONE) == 3
