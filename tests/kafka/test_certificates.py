"""An erasure certificate on Kafka: a record of the ledger that every node has."""

from __future__ import annotations

import json

from tests.kafka.conftest import Make
from tests.kafka.kit import Recollect, line, wait_until, write


def held(home: Recollect) -> list[str]:
    """Return the hashes of the certificates that a node lists."""
    return [item["sha256"] for item in home.ask("certificates")["certificates"]]


def test_a_certificate_is_issued_and_holds_on_every_node(make: Make) -> None:
    asking, deciding = make("a"), make("b")
    worker = deciding.worker()
    said = [line("m1", "I live in Qwxyzville.", number=1), line("m2", "I have a boat.", number=2)]
    asking.ask("ingest", write(asking.home / "said.jsonl", said))
    path = asking.home / "certificate.json"
    asking.ask("forget", "m1", "--certificate", str(path))
    certificate = json.loads(path.read_text())
    assert "qwxyzville" not in path.read_text().lower()
    assert len(certificate["statement"]["erased"]) == 1
    wait_until(lambda: held(deciding) == [certificate["sha256"]], "the other node lists it")
    assert worker.stop() == 0
    for home in (asking, deciding):
        assert held(home) == [certificate["sha256"]]
        found = home.ask("verify", "--certificate", str(path))
        assert found["problems"] == []
        assert found["certificate"]["ok"]
