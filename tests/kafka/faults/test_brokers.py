"""Of three brokers one is away: nodes start, publish and ask as if nothing had happened. Or two
are: then nothing is acknowledged, and whoever writes hears of it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from recollect.schemas.events import Draft, Message
from recollect.schemas.ledger.records import GENESIS, read_event, record_hash
from recollect.streams.ledger import EVENTS, LedgerUnavailable, partition_of
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from tests.broker.cluster import Cluster
from tests.broker.fixture import SCHEME

pytestmark = pytest.mark.kafka


def say(number: int) -> Draft:
    message = Message(source_id=f"m{number}", sender_id="U1", content="The box is green.")
    return Draft(platform="chat", occurred_at=1_767_607_200_000, payload=message)


def test_nodes_work_while_one_of_three_brokers_is_away(tmp_path: Path) -> None:
    with Cluster(tmp_path / "brokers") as cluster:
        settings = KafkaSettings.read(f"{SCHEME}{cluster.address}", {})
        with closing(KafkaLedger(settings, tmp_path / "old")) as old:
            assert old.publish("ada", [say(0)])[0].status == "new"
            old.clients.members(settings.group)
            cluster.wait_until_whole()
            cluster.brokers[0].kill()
            # Which broker is asked is up to chance; the old node still knows the one that is away.
            for number in range(1, 6):
                old.clients.ensure_topics()
                assert old.clients.members(settings.group) == 0
                with closing(KafkaLedger(settings, tmp_path / f"new {number}")) as new:
                    assert new.publish("ada", [say(number)])[0].number == number + 1
                    assert new.clients.members(settings.group) == 0
            assert old.head("ada").number == 6


def test_what_one_copy_alone_would_hold_is_refused_and_goes_in_once_when_the_others_are_back(
    tmp_path: Path,
) -> None:
    with Cluster(tmp_path / "brokers") as cluster:
        settings = KafkaSettings.read(f"{SCHEME}{cluster.address}", {})
        ledgers = [KafkaLedger(settings, tmp_path / f"node {number}") for number in range(2)]
        for number, ledger in enumerate(ledgers):
            assert ledger.publish("ada", [say(number)])[0].status == "new"
        cluster.wait_until_whole()
        # With its next fetch a follower learns what is acknowledged; else it answers nothing later.
        time.sleep(2)
        last = cluster.brokers[0]
        for broker in cluster.brokers[1:]:
            broker.kill()
        cluster.wait_until(
            lambda known: {led.leader for led in known.values()} == {last.number},
            "the one that is left leads all",
        )
        # Several at once, one of them in two zones: whoever waits for another hears the same.
        with ThreadPoolExecutor() as threads:
            tries = [
                threads.submit(ledger.publish_all, {zone: [say(number)] for zone in zones})
                for ledger, zones, number in (
                    (ledgers[0], ("ada", "bob"), 2),
                    (ledgers[0], ("ada",), 3),
                    (ledgers[1], ("ada",), 2),
                )
            ]
        errors = [each.exception() for each in tries]
        assert all(isinstance(error, LedgerUnavailable) for error in errors), errors
        for error in (errors[0], errors[2]):
            assert "fewer than min.insync.replicas in sync" in str(error)
            assert "nothing was acknowledged" in str(error)
        # What was published before can be read; and who ends now does not wait for the brokers.
        assert ledgers[1].head("ada").number == 2
        ledgers[1].close()
        for broker in cluster.brokers[1:]:
            broker.start()
        cluster.wait_until_whole(120)
        with closing(ledgers[0]) as old, closing(KafkaLedger(settings, tmp_path / "new")) as new:
            for number in (2, 3, 4):
                assert old.publish("ada", [say(number)])[0].number == number + 1
            assert new.publish("ada", [say(number) for number in range(6)])[-1].number == 6
            place = partition_of("ada")
            envelopes = [read_event(record.value)[0] for record in new.read(EVENTS, place, 0, 100)]
            extending, previous = [], GENESIS
            for record, envelope in zip(new.read(EVENTS, place, 0, 100), envelopes, strict=True):
                if envelope.zone == "ada" and envelope.previous == previous:
                    extending.append(envelope.number)
                    previous = record_hash(record.value)
            assert extending == [1, 2, 3, 4, 5, 6]
            assert new.head("ada").number == old.head("ada").number == 6
