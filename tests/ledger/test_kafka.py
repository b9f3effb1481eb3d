"""The ledger on Kafka: the contract of every ledger, on the real broker."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from streams.ledger import Ledger
from streams.ledger.kafka import KafkaLedger, KafkaSettings
from tests.ledger.contract import LedgerContract, Opener


class NewNode:
    """Opens the ledger as a node that has read nothing of it yet."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = url
        self._directory = directory

    def __call__(self) -> Ledger:
        directory = Path(tempfile.mkdtemp(dir=self._directory))
        return KafkaLedger(KafkaSettings.read(self._url, {}), directory)


class TestKafkaLedger(LedgerContract):
    @pytest.fixture
    def opener(self, kafka_url: str, tmp_path: Path) -> Opener:
        return NewNode(kafka_url, tmp_path)
