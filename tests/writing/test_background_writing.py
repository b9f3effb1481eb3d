"""While a service or a worker runs, the home's model reads what is said without a command."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from apsw import Connection

from recollect.home.home_directory import Home
from recollect.operations.writing import background_writing
from recollect.projections.events import event_queries
from recollect.schemas.ledger.recordings import Recording, read_recording
from recollect.streams.writing import recorder
from tests.library.kit import said
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.service.kit import Served, served
from tests.service.work.test_serve import serving
from tests.writing.model_server import Body, ModelServer, Reply, Script, model_server, say
from tests.writing.scripts import message_of, results_of

DEPLOY = "The deploy is on Fridays at Marlowe Labs."
#: The rules conclude nothing of either.
FERRY = "The ferry is on Mondays at Quayside Yard."
SECONDS = 60.0


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it look for new events, and try again after a failure, soon."""
    monkeypatch.setattr(background_writing, "_FIRST_PAUSE", 0.05)
    monkeypatch.setattr(background_writing, "_POLL_SECONDS", 0.05)


def keeping(body: Body) -> Reply:
    """Take a message as a fact, as it stands, if it says where something is."""
    words = message_of(body)["content"]
    if " at " not in words or results_of(body):
        return say("nothing")
    return say("", ("insert_fact", {"text": words, "metadata": {"evidence": words}}))


def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < ends, "it does not come about"
        time.sleep(0.02)


@contextmanager
def home_with(
    place: Path, script: Script, writer: Any = "model", **settings: object
) -> Iterator[ModelServer]:
    """Make a home whose model is a script."""
    with model_server(script) as server:
        Home.create_or_open(place, without_encoder=True, writer=writer)
        given = {"seconds": 30.0, "attempts": 1} | settings
        lines = [f'accounts = ["{server.url} scripted"]']
        lines += [f"{name} = {str(value).lower()}" for name, value in given.items()]
        (place / "recollect.toml").write_text("[model]\n" + "\n".join(lines) + "\n")
        yield server


@contextmanager
def service_with(
    place: Path, script: Script, **settings: object
) -> Iterator[tuple[Served, httpx.Client, ModelServer]]:
    """Serve such a home; yield it with a client for its zones a and b."""
    with (
        home_with(place, script, **settings) as server,
        served(place) as service,
        service.client(("a", "b")) as client,
    ):
        yield service, client, server


def publish(client: httpx.Client, *words: str, zone: str = "a", first: int = 0) -> None:
    events = [said(f"m{place}", each, minute=place) for place, each in enumerate(words, first)]
    answer = client.post(f"/v1/zones/{zone}/events?wait=true", json={"events": events})
    assert answer.json()["new"] == len(words), answer.text


def facts(client: httpx.Client, zone: str = "a") -> list[str]:
    found = client.get(f"/v1/zones/{zone}/facts").json()
    return [fact["text"] for fact in found["facts"]]


def metric(client: httpx.Client, name: str) -> float:
    text = client.get("/metrics").text
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))


@pytest.mark.usefixtures("nothing_salient")
def test_what_is_said_is_read_without_a_command(tmp_path: Path) -> None:
    with service_with(tmp_path / "home", keeping, price_in=2) as (_, client, server):
        publish(client, "I live in Turin.")
        publish(client, DEPLOY, first=1)
        publish(client, FERRY, zone="b")
        until(lambda: DEPLOY in facts(client) and FERRY in facts(client, "b"))
        until(lambda: metric(client, "recollect_model_events_total") == 3)
        assert metric(client, "recollect_model_calls_total") == len(server.questions)
        assert metric(client, "recollect_model_tokens_total") == 120 * len(server.questions)
        assert metric(client, "recollect_model_cost_total") == pytest.approx(
            len(server.questions) * 100 * 2 / 1e6
        )
        kept = metric(client, 'recollect_model_facts_total{result="accepted"}')
        status = client.get("/v1/zones/a/status").json()["model_usage"]
        other = client.get("/v1/zones/b/status").json()["model_usage"]
        assert kept == status["accepted"] + other["accepted"] >= 2
        assert metric(client, "recollect_model_failures_total") == 0
        # What was read is not asked again.
        asked = len(server.questions)
        publish(client, "Thanks!", first=2)
        until(lambda: metric(client, "recollect_model_events_total") == 4)
        assert len(server.questions) == asked + 1


def test_with_nobody_there_all_else_goes_on_and_it_is_caught_up(tmp_path: Path) -> None:
    down = [Reply(b"", 503)]
    with service_with(tmp_path / "home", lambda body: down[0] if down else keeping(body)) as (
        service,
        client,
        _,
    ):
        publish(client, "I live in Turin.", DEPLOY)
        assert any("Turin" in fact for fact in facts(client))
        until(lambda: metric(client, "recollect_model_failures_total") > 2)
        assert DEPLOY not in facts(client)
        assert "the language model could not be used" in service.log.getvalue()
        assert "503" in service.log.getvalue()
        assert "Turin" not in service.log.getvalue()
        down.clear()
        until(lambda: DEPLOY in facts(client))
        assert any("Turin" in fact for fact in facts(client))


def test_analyses_go_on_once_the_service_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    down = [Reply(b"", 503)]

    def script(body: Body) -> Reply:
        if "You analyse messages" not in body["messages"][0]["content"]:
            return keeping(body)
        return down[0] if down else say("nothing")

    with service_with(tmp_path / "home", script) as (service, client, _):
        publish(client, DEPLOY)
        until(lambda: "answered 503" in service.log.getvalue())
        down.clear()

        def completed() -> int:
            path = "/v1/zones/a/analyses?type=model_summary_v1&status=completed"
            return len(client.get(path).json()["analyses"])

        until(lambda: completed() == 1)


def test_what_is_forgotten_while_it_is_read_leaves_nothing(tmp_path: Path) -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def script(body: Body) -> Reply:
        if message_of(body)["content"] == DEPLOY:
            asked.set()
            goes_on.wait(SECONDS)
        return keeping(body)

    place = tmp_path / "home"
    with service_with(place, script) as (_, client, _server):
        publish(client, DEPLOY, FERRY)
        assert asked.wait(SECONDS)
        gone = client.post("/v1/zones/a/forget", json={"ids": ["m0"]})
        assert gone.status_code < 300, gone.text
        goes_on.set()
        until(lambda: FERRY in facts(client))
        assert DEPLOY not in facts(client)
    assert files_holding(place, b"Marlowe", b"marlowe", b"Fridays") == []
    with Memory(place, "a") as memory:
        assert memory.verify().ok
        memory.rebuild("derive")
        assert FERRY in [fact.text for fact in memory.facts()]
        assert memory.verify().ok


@pytest.mark.parametrize("settings", [{"writer": "rules"}, {"background": False}])
def test_nobody_is_asked_where_it_is_not_wanted(tmp_path: Path, settings: Any) -> None:
    with service_with(tmp_path / "home", keeping, **settings) as (_, client, server):
        publish(client, DEPLOY, "I live in Turin.")
        time.sleep(4 * background_writing._POLL_SECONDS)
        assert server.questions == []
        assert not [one for one in threading.enumerate() if one.name == "background-writer"]


def test_a_home_without_an_account_is_served_and_the_log_says_what_lacks(tmp_path: Path) -> None:
    with service_with(tmp_path / "home", keeping) as (_, _client, _server):
        pass
    (tmp_path / "home" / "recollect.toml").write_text("")
    with served(tmp_path / "home") as service, service.client("a") as client:
        publish(client, "I live in Turin.")
        assert any("Turin" in fact for fact in facts(client))
        until(lambda: "model.accounts is empty" in service.log.getvalue())


def test_an_end_waits_for_no_answer(tmp_path: Path) -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def script(body: Body) -> Reply:
        asked.set()
        goes_on.wait(SECONDS)
        return keeping(body)

    place = tmp_path / "home"
    with home_with(place, script):
        with served(place) as service, service.client("a") as client:
            publish(client, DEPLOY)
            assert asked.wait(SECONDS)
            ends = time.monotonic()
        assert time.monotonic() - ends < 10
        goes_on.set()
        with Memory(place, "a") as memory:
            assert memory.write().processed == 1
            assert DEPLOY in [fact.text for fact in memory.facts()]


def test_a_budget_holds_until_the_hour_is_over(tmp_path: Path) -> None:
    with service_with(
        tmp_path / "home", keeping, tokens_per_run=6_000, answer_tokens=100, concurrency=1
    ) as (service, client, server):
        publish(client, *(f"{DEPLOY} Number {n}." for n in range(60)))
        until(lambda: "model.tokens_per_run" in service.log.getvalue())
        asked = len(server.questions)
        assert 0 < asked * 120 <= 6_000
        failed = metric(client, "recollect_model_failures_total")
        until(lambda: metric(client, "recollect_model_failures_total") > failed + 3)
        assert len(server.questions) * 120 <= 6_000


def test_a_question_that_is_refused_stands_in_nobodys_way(tmp_path: Path) -> None:
    def script(body: Body) -> Reply:
        return Reply(b"", 400) if "too long" in message_of(body)["content"] else keeping(body)

    with service_with(tmp_path / "home", script, concurrency=1) as (_, client, server):
        publish(client, "This is too long.", "And too long again.", FERRY)
        until(lambda: FERRY in facts(client))
        publish(client, DEPLOY, first=3)
        until(lambda: DEPLOY in facts(client))
        refused = [one for one in server.questions if "too long" in message_of(one)["content"]]
        assert len(refused) == 2


def test_a_message_that_nobody_answers_stands_in_nobodys_way(tmp_path: Path) -> None:
    hangs = [True]

    def script(body: Body) -> Reply:
        if hangs and "Marlowe" in message_of(body)["content"]:
            return Reply(b"", 500)
        return keeping(body)

    with service_with(tmp_path / "home", script, concurrency=1) as (_, client, _server):
        publish(client, DEPLOY, "I live in Turin.", FERRY)
        until(lambda: FERRY in facts(client))
        assert DEPLOY not in facts(client)
        hangs.clear()
        until(lambda: DEPLOY in facts(client))


def test_a_backlog_takes_time_as_it_is_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer is read once where they are looked up, and what was said a few times in all."""
    answers: list[bytes] = []
    looks: list[object] = []
    read, look = read_recording, event_queries.message_ids

    def reading(value: bytes) -> Recording:
        answers.append(value)
        return read(value)

    def looking(connection: Connection) -> list[tuple[int, str]]:
        looks.append(connection)
        return look(connection)

    monkeypatch.setattr(recorder, "read_recording", reading)
    monkeypatch.setattr(event_queries, "message_ids", looking)
    words = [f"The ferry number {n} is on Mondays at Quayside Yard." for n in range(40)]
    place = tmp_path / "home"
    with home_with(place, keeping, concurrency=1) as server:
        with Memory(place, "a") as memory:
            memory.ingest([said(f"m{n}", each, minute=n) for n, each in enumerate(words)])
        with served(place) as service, service.client("a") as client:
            until(lambda: metric(client, "recollect_model_events_total") == len(words))
        assert len(answers) == len(server.questions) >= len(words)
        assert len(looks) <= 6


@pytest.mark.slow
def test_who_is_killed_pays_nothing_twice(tmp_path: Path) -> None:
    place = tmp_path / "home"
    asked, goes_on = threading.Event(), threading.Event()

    def script(body: Body) -> Reply:
        if len(body["messages"]) > 2 and not goes_on.is_set():
            asked.set()
            goes_on.wait(SECONDS)
        return keeping(body)

    with home_with(place, script, attempts=3) as server:
        with Memory(place) as memory:
            memory.ingest([said("m0", FERRY)])
        with serving(place) as (process, _):
            # The first answer is recorded, and the second is being waited for.
            assert asked.wait(SECONDS)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        goes_on.set()
        with serving(place) as (process, _), Memory(place) as memory:
            until(lambda: FERRY in [fact.text for fact in memory.facts()])
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0
            assert memory.verify().ok
        first = [one for one in server.questions if len(one["messages"]) == 2]
        assert len(first) == 1


@contextmanager
def working(place: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a worker."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "recollect", "--home", str(place), "worker"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield worker
    finally:
        worker.kill()
        worker.wait()


def test_a_worker_lets_it_read_too(tmp_path: Path) -> None:
    place = tmp_path / "home"
    with home_with(place, keeping), Memory(place) as memory:
        memory.ingest([said("m0", FERRY)])
        with working(place) as worker:
            until(lambda: FERRY in [fact.text for fact in memory.facts()])
            worker.send_signal(signal.SIGINT)
            assert worker.wait(SECONDS) == 0


def test_a_worker_whose_model_is_down_decides_and_says_why_it_does_not_write(
    tmp_path: Path,
) -> None:
    place = tmp_path / "home"
    with home_with(place, lambda _: Reply(b"", 503)) as server, Memory(place) as memory:
        memory.ingest([said("m0", "I live in Turin.")])
        with working(place) as worker:
            until(lambda: len(server.questions) > 0)
            assert worker.stderr is not None
            told = worker.stderr.readline()
            worker.send_signal(signal.SIGINT)
            assert worker.wait(SECONDS) == 0
        assert "zone default: the language model could not be used: no model answered" in told
        assert any("Turin" in fact.text for fact in memory.facts())
