"""One of three brokers is away: nodes start, publish and ask as if nothing had happened."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from schemas.events import Draft, Message
from streams.ledger.kafka import KafkaLedger, KafkaSettings
from tests.broker.cluster import Cluster
from tests.broker.fixture import SCHEME


def say(number: int) -> Draft:
    message = Message(source_id=f"m{number}", sender_id="U1", content="The box is green.")
    return Draft(platform="chat", occurred_at=1_767_607_200_000, payload=message)


@pytest.mark.timeout(400)
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
