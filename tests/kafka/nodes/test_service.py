"""The query service on Kafka: it publishes to the ledger, and answers as a replica."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.kafka.conftest import Make
from tests.kafka.kit import Recollect, Running, line, wait_until


@contextmanager
def served(home: Recollect, *options: str) -> Iterator[tuple[Running, httpx.Client]]:
    """A service of a home, and who asks it."""
    service = home.start("serve", "--port", "0", "--no-auth", "--json", *options)
    wait_until(lambda: '"url"' in service.output, "the service listens")
    url = json.loads(service.output.splitlines()[0])["url"]
    with httpx.Client(base_url=f"{url}/v1/zones/default", timeout=60) as client:
        yield service, client
    assert service.stop() == 0, service.errors


def test_it_publishes_answers_and_forgets_and_never_decides(make: Make) -> None:
    home, worker_home = make("a"), make("b")
    worker = worker_home.worker()
    with served(home) as (_, client):
        events = [line("m1", "The box is green."), line("m2", "The key is in the box.")]
        sent = client.post("/events?wait=true", json={"events": events})
        assert sent.json()["new"] == 2, sent.text
        asked = client.post("/memories/recall", json={"query": "Which colour is the box?"}).json()
        assert any("green" in result["text"] for result in asked["results"])
        assert client.get("/status").json()["lag"] == 0
        done = client.post("/forget", json={"ids": ["m1"]})
        assert done.json()["forgotten"] == ["m1"], done.text
        assert "is green." not in client.post("/memories/recall", json={"query": "green box"}).text
    assert worker.stop() == 0, worker.errors
    assert worker_home.decided() == home.decided()


def test_its_readers_follow_what_workers_decide_and_what_is_erased(make: Make) -> None:
    home, worker_home = make("a", RECOLLECT_REQUESTS_PER_SECOND="0"), make("b")
    worker = worker_home.worker()
    with served(home, "--recall-workers", "1") as (service, client), ThreadPoolExecutor(8) as many:

        def answer(_: int) -> str:
            asked = client.post("/memories/recall", json={"query": "Which colour is the box?"})
            assert asked.status_code == 200, asked.text
            return asked.text

        def reader_started() -> bool:
            list(many.map(answer, range(32)))
            return bool(children(service.process.pid))

        sent = [line("m0", "The key is in the box.")]
        assert client.post("/events?wait=true", json={"events": sent}).json()["new"] == 1
        wait_until(reader_started, "a reader answers beside the service")
        sent = [line("m1", "The box is green.")]
        assert client.post("/events?wait=true", json={"events": sent}).json()["new"] == 1
        assert all("is green." in found for found in many.map(answer, range(32)))
        before = many.submit(lambda: [answer(place) for place in range(32)])
        assert client.post("/forget", json={"ids": ["m1"]}).json()["forgotten"] == ["m1"]
        assert not any("is green." in found for found in many.map(answer, range(32)))
        before.result()
        assert children(service.process.pid), "the reader is still there"
    assert worker.stop() == 0, worker.errors


def children(process: int) -> list[int]:
    """Return the processes that a process started and that still run."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]
