"""Reader processes answer as the service itself would, may die, and never say what is erased."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from recollect import Recollect, Zone
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Query
from recollect.service.work import recall_workers as recall_workers_module
from recollect.service.work.recall_workers import RecallWorkers
from tests.library.kit import said
from tests.service.kit import Served, served

ASKED = Query("Where does Ada keep the boat?", asked_at="2026-06-01T00:00:00Z")


class AnsweredHere(Exception):
    """A question was answered by this process."""


class Elsewhere(Zone):
    """A zone that this process must not be asked itself."""

    def recall(self, *_: Any, **__: Any) -> Any:
        raise AnsweredHere


class AtWork(Zone):
    """A zone whose answers take until somebody lets them go."""

    def __init__(self, zone: Zone) -> None:
        super().__init__(zone._zone)
        self.asked, self.go_on = threading.Event(), threading.Event()

    def recall(self, *args: Any, **fields: Any) -> Any:
        self.asked.set()
        self.go_on.wait(60)
        return super().recall(*args, **fields)


class Readers:
    """A home with a reader that has started, while one question is at work here."""

    def __init__(self, opened: Recollect, readers: RecallWorkers) -> None:
        self.opened, self.readers = opened, readers
        self.zone = opened.zone("a")

    def asked(self, query: Query = ASKED) -> dict[str, Any]:
        """Return the answer of a reader."""
        zone = Elsewhere(self.zone._zone)
        return self._without_ms(self.readers.recall(zone, query))

    def asked_anywhere(self, query: Query = ASKED) -> dict[str, Any]:
        return self._without_ms(self.readers.recall(self.zone, query))

    def _without_ms(self, answer: bytes) -> dict[str, Any]:
        return {**json.loads(answer), "ms": 0}

    def process(self) -> int:
        (reader,) = self.readers._workers
        return reader.process.pid


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Readers]:
    monkeypatch.setattr(recall_workers_module, "START_THRESHOLD", 1)
    with Recollect(tmp_path / "home", encoder="none", count_accesses=True) as opened:
        zone = opened.zone("a")
        zone.ingest(
            [
                said("m1", "I keep the boat in Turin.", minute=1),
                said("m2", "The boat is green.", by="Bob", minute=2),
                said("m3", "It rained on Monday.", minute=3),
            ]
        )
        readers = RecallWorkers(opened, 1, 60.0)
        opened._open_home.recallers.follow_listeners.append(readers.follow)
        busy = AtWork(zone)
        asking = threading.Thread(target=readers.recall, args=(busy, ASKED))
        asking.start()
        try:
            assert busy.asked.wait(60)
            until(lambda: bool(readers._workers))
            yield Readers(opened, readers)
        finally:
            busy.go_on.set()
            asking.join()
            readers.close()


def until(holds: Any) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_reader_answers_and_counts_as_the_service_would(started: Readers) -> None:
    opened = started.opened
    here = json.loads(msgspec.json.encode(opened.zone("a").recall(ASKED)))
    assert started.asked() == {**here, "ms": 0}
    assert started.asked()["results"][0]["source_event_ids"] == ["m1"]
    accesses = opened._accesses
    assert accesses is not None
    # Once here, and twice by the reader.
    assert set(accesses._counts["a"].values()) == {3}


def test_a_reader_knows_what_was_published_and_never_says_what_was_forgotten(
    started: Readers,
) -> None:
    assert "Turin" in json.dumps(started.asked())
    started.zone.ingest(said("m4", "I keep the boat in Genoa now.", minute=9))
    assert "Genoa" in json.dumps(started.asked())
    started.zone.forget("m1", "m4")
    after = json.dumps(started.asked())
    assert "green" in after
    assert "Turin" not in after
    assert "Genoa" not in after


def test_an_answer_that_was_found_before_an_erasure_is_not_given_after_it(
    started: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = RecallWorkers._request

    def slow(self: RecallWorkers, *args: Any) -> Any:
        answered: Any = ask(self, *args)
        if args[-1].query is not None:
            assert b"Turin" in answered.answer
            started.zone.forget("m1")
        return answered

    monkeypatch.setattr(RecallWorkers, "_request", slow)
    assert "Turin" not in json.dumps(started.asked_anywhere())


def test_what_a_killed_reader_had_to_answer_is_answered_here(started: Readers) -> None:
    before = started.asked()
    os.kill(started.process(), signal.SIGKILL)
    assert started.asked_anywhere() == before
    until(lambda: not started.readers._workers)
    with pytest.raises(AnsweredHere):
        started.asked()


def test_a_reader_ends_when_the_service_is_gone(started: Readers) -> None:
    (reader,) = started.readers._workers
    # As where the service was killed.
    for connection in reader.connections:
        connection.shutdown(2)
    assert reader.process.wait(60) == 0


def test_a_reader_that_nobody_needs_ends(started: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    (reader,) = started.readers._workers
    started.readers.end_unused()
    assert reader.process.poll() is None
    monkeypatch.setattr(recall_workers_module, "_MAX_IDLE_SECONDS", -1.0)
    started.readers.end_unused()
    assert reader.process.poll() is not None


def test_a_question_that_cannot_be_asked_says_why(started: Readers) -> None:
    with pytest.raises(InvalidInput, match="max_results"):
        started.asked_anywhere(Query("Where?", max_results=0))


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(recall_workers_module, "max_recall_workers", lambda asked: asked)
    monkeypatch.setattr("recollect.service.query_service.max_recall_workers", lambda asked: asked)
    with served(tmp_path / "home", recall_workers=2) as found:
        yield found


@pytest.mark.slow
def test_many_who_ask_at_once_get_what_one_gets(service: Served) -> None:
    with service.client() as client:
        events = "\n".join(
            json.dumps(said(f"m{n}", f"Boat number {n} is in harbour {n % 7}.", minute=n))
            for n in range(60)
        )
        kind = {"content-type": "application/x-ndjson"}
        assert client.post("/v1/zones/a/events?wait=true", content=events, headers=kind).is_success

        def asked(number: int) -> tuple[int, dict[str, Any]]:
            body = {"query": f"Where is boat number {number}?", "asked_at": "2026-06-01T00:00:00Z"}
            answer = client.post("/v1/zones/a/memories/recall", json=body)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "application/json"
            return number, {**answer.json(), "ms": 0}

        alone = dict(map(asked, range(60)))
        with ThreadPoolExecutor(8) as many:
            until(lambda: _one_reader(service, many, asked, alone))
            for number, answer in many.map(asked, range(60)):
                assert answer == alone[number]


def _one_reader(service: Served, many: ThreadPoolExecutor, asked: Any, alone: Any) -> bool:
    """Ask at once until a reader has started."""
    for number, answer in many.map(asked, range(16)):
        assert answer == alone[number]
    return bool(service.app.service.recall_workers._workers)


def test_who_may_not_ask_gets_nothing_by_way_of_a_reader(service: Served) -> None:
    with service.client() as client, service.client("b") as other:
        sent = said("m1", "The canary is yellow.")
        assert client.post("/v1/zones/a/events?wait=true", json=sent).is_success
        body = {"query": "Which colour has the canary?"}

        def refused(_: int) -> httpx.Response:
            return other.post("/v1/zones/a/memories/recall", json=body)

        with ThreadPoolExecutor(8) as many:
            for answer in many.map(refused, range(40)):
                assert answer.status_code == 404
                assert "yellow" not in answer.text
