"""The ledger on Kafka: the contract of every ledger, on the real broker."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from streams.ledger import EVENTS, Ledger, partition_of
from streams.ledger.kafka import KafkaLedger, KafkaSettings
from streams.ledger.sequencer import sequence
from tests.ledger.contract import LedgerContract, Opener, Reader, draft, ids


class NewNode:
    """Opens the ledger as a node that has read nothing of it yet."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = url
        self._directory = directory

    def __call__(self) -> Ledger:
        directory = Path(tempfile.mkdtemp(dir=self._directory))
        return KafkaLedger(KafkaSettings.read(self._url, {}), directory)


@pytest.fixture
def opener(kafka_url: str, tmp_path: Path) -> Opener:
    return NewNode(kafka_url, tmp_path)


class TestKafkaLedger(LedgerContract):
    @pytest.fixture
    def opener(self, kafka_url: str, tmp_path: Path) -> Opener:
        return NewNode(kafka_url, tmp_path)


def test_the_keys_of_void_copies_are_destroyed_whoever_left_them(opener: Opener) -> None:
    """A sequencer that was overtaken died before it could tidy up; its copy says the same words."""
    with closing(opener()) as first, closing(opener()) as second:
        assert isinstance(first, KafkaLedger)
        assert isinstance(second, KafkaLedger)
        first.publish("z", [draft("a")])
        _, (overtaken,), _ = sequence(
            "z",
            [draft("b", "a secret")],
            first.head("z"),
            secret=first.keys.secret,
            now=0,
            held=lambda source: None,
        )
        first.publish("z", [draft("b", "a secret")])
        second.keys.add({overtaken.key_id: overtaken.key})
        second.append(EVENTS, "z", [overtaken.value])
        # The same event again under its own key, as a redelivery would bring it, is no such copy.
        (again,) = [event for event in Reader(second).zone("z") if event.number == 2]
        second.append(EVENTS, "z", [second.read(EVENTS, partition_of("z"), again.offset, 1)[0][2]])
        assert overtaken.key_id in second.keys.get([overtaken.key_id])

        first.publish("z", [draft("c")])

        assert ids(Reader(first).zone("z")) == ["a", "b", "c"]
    with closing(opener()) as third:
        assert third.keys.get([overtaken.key_id]) == {}
        assert ids(Reader(third).zone("z")) == ["a", "b", "c"]
