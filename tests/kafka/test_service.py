"""The query service on Kafka: it publishes to the ledger, and answers as a replica."""

from __future__ import annotations

import json

import httpx

from tests.kafka.conftest import Make
from tests.kafka.kit import line, wait_until


def test_it_publishes_answers_and_forgets_and_never_decides(make: Make) -> None:
    home, worker_home = make("a"), make("b")
    worker = worker_home.worker()
    service = home.start("serve", "--port", "0", "--no-auth", "--json")
    wait_until(lambda: '"url"' in service.output, "the service listens")
    url = json.loads(service.output.splitlines()[0])["url"]
    with httpx.Client(base_url=f"{url}/v1/zones/default", timeout=60) as client:
        events = [line("m1", "The box is green."), line("m2", "The key is in the box.")]
        sent = client.post("/events?wait=true", json={"events": events})
        assert sent.json()["new"] == 2, sent.text
        asked = client.post("/memories/recall", json={"query": "Which colour is the box?"}).json()
        assert any("green" in result["text"] for result in asked["results"])
        assert client.get("/status").json()["lag"] == 0
        done = client.post("/forget", json={"ids": ["m1"]})
        assert done.json()["forgotten"] == ["m1"], done.text
        assert "is green." not in client.post("/memories/recall", json={"query": "green box"}).text
    assert service.stop() == 0, service.errors
    assert worker.stop() == 0, worker.errors
    assert worker_home.decided() == home.decided()
