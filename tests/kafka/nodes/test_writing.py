"""A language model writes on Kafka: what one node records, all nodes decide from, and once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.conftest import Make
from tests.kafka.kit import (
    PATIENCE,
    Recollect,
    Running,
    files_holding,
    line,
    post_events,
    wait_until,
    write,
)
from tests.writing.model_server import Body, ModelServer, Reply, model_server, say
from tests.writing.scripts import message_of, results_of

#: The rules conclude nothing of these.
FERRIES = [
    f"The ferry is on {day}s at {place} Yard."
    for day, place in zip(
        ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
        ("Quayside", "Marlowe", "Gannet", "Kelpie", "Tarn", "Osprey"),
        strict=True,
    )
]


def keeping(body: Body) -> Reply:
    """Take a message as a fact, as it stands."""
    if results_of(body):
        return say("nothing")
    words = message_of(body)["content"]
    return say("", ("insert_fact", {"text": words, "metadata": {"evidence": words}}))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that keeps what it is shown."""
    with model_server(keeping) as running:
        yield running


def with_model(home: Recollect, server: ModelServer) -> Recollect:
    """Have a home's writer be that model."""
    home.ask("init", "--writer", "model")
    accounts = f'accounts = ["{server.url} scripted"]'
    (home.home / "recollect.toml").write_text(f"[model]\n{accounts}\nseconds = 30.0\n")
    return home


def said(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [line(f"m{n}", FERRIES[n], number=n) for n in range(first, first + count)]


def facts(home: Recollect, zone: str = "default") -> list[str]:
    return sorted(text for (text,) in home.query("memory", "SELECT text FROM facts", zone))


def test_what_one_node_records_a_worker_elsewhere_decides_from(
    make: Make, server: ModelServer
) -> None:
    named = (make(name, RECOLLECT_MODEL_BACKGROUND="false") for name in "ab")
    writing, deciding = (with_model(home, server) for home in named)
    worker = deciding.worker()
    for first in (0, 2):
        source = write(writing.home / "said.jsonl", said(2, first))
        writing.ask("ingest", source)
        assert writing.ask("write")["processed"] == 2
        deciding.wait_for("default", writing.decided())
        assert facts(deciding) == facts(writing) == sorted(FERRIES[: first + 2])
    assert worker.stop() == 0, worker.errors
    assert deciding.hashes() == writing.hashes()
    assert "missing" not in worker.errors


def asked_of(server: ModelServer) -> dict[str, int]:
    """Return how often each message was put before the model for the first time."""
    first = (each for each in server.questions if not results_of(each))
    return dict(Counter(message_of(each)["content"] for each in first))


def test_each_worker_has_what_is_said_in_its_zones_read_once(
    make: Make, server: ModelServer
) -> None:
    homes = [with_model(make(name), server) for name in "ab"]
    workers = [home.worker() for home in homes]
    zones = [f"zone-{number}" for number in range(8)]
    for zone in zones:
        post_events(homes[0].url, zone, said(3))

    def read(home: Recollect, zone: str) -> bool:
        return facts(home, zone) == sorted(FERRIES[:3])

    wait_until(
        lambda: all(any(read(home, zone) for home in homes) for zone in zones),
        lambda: f"all is read: {[facts(homes[0], zone) for zone in zones]} {workers[0].errors}",
    )
    assert asked_of(server) == dict.fromkeys(FERRIES[:3], len(zones))
    # The second goes on where the first ends, whose answers it has never seen.
    workers[0].kill()
    for zone in zones:
        post_events(homes[1].url, zone, said(2, 3))
    wait_until(
        lambda: all(facts(homes[1], zone) == sorted(FERRIES[:5]) for zone in zones),
        lambda: f"the other reads on: {workers[1].errors}",
    )
    assert asked_of(server) == dict.fromkeys(FERRIES[:5], len(zones))
    assert workers[1].stop() == 0, workers[1].errors
    assert "could not be used" not in workers[1].errors
    for zone in zones:
        assert homes[1].ask("--zone", zone, "verify")["problems"] == []


def test_what_a_killed_worker_had_paid_for_is_not_asked_again(make: Make) -> None:
    waits, goes_on = threading.Event(), threading.Event()

    def script(body: Body) -> Reply:
        if results_of(body) and not goes_on.is_set():
            waits.set()
            goes_on.wait(PATIENCE)
        return keeping(body)

    with model_server(script) as server:
        homes = [with_model(make(name), server) for name in "ab"]
        first = homes[0].worker()
        post_events(homes[0].url, "default", said(1))
        # Its first answer is recorded, and the second one is being waited for.
        assert waits.wait(PATIENCE), first.errors
        first.kill()
        goes_on.set()
        second = homes[1].worker()
        wait_until(lambda: facts(homes[1]) == FERRIES[:1], lambda: second.errors)
        assert second.stop() == 0, second.errors
        assert asked_of(server) == {FERRIES[0]: 1}


def test_a_worker_whose_setting_says_no_leaves_it_to_the_command(
    make: Make, server: ModelServer
) -> None:
    home = with_model(make("a", RECOLLECT_MODEL_BACKGROUND="false"), server)
    worker = home.worker()
    post_events(home.url, "default", said(2))
    home.wait_for("default", 2)
    home.looked_around()
    assert server.questions == []
    assert home.ask("write")["processed"] == 2
    assert facts(home) == sorted(FERRIES[:2])
    assert worker.stop() == 0, worker.errors


def test_what_is_forgotten_leaves_what_a_model_made_of_it(make: Make, server: ModelServer) -> None:
    homes = [with_model(make(name), server) for name in "ab"]
    workers = [home.worker() for home in homes]
    post_events(homes[0].url, "default", said(2))
    owner = first_with(homes, FERRIES[:2], workers)
    homes[0].ask("forget", "m0")
    # The second is read again: the first stood beside it when it was.
    wait_until(lambda: asked_of(server)[FERRIES[1]] == 2, lambda: errors_of(workers))
    wait_until(lambda: facts(owner) == FERRIES[1:2], lambda: errors_of(workers))
    again = server.questions[-2]
    assert FERRIES[0] not in str(again)
    for home in homes:
        assert files_holding(home.home / "zones", b"quayside", b"mondays") == []
    assert owner.ask("verify")["ok"]
    assert [worker.stop() for worker in workers] == [0, 0], errors_of(workers)


def errors_of(workers: Sequence[Running]) -> str:
    return "\n".join(worker.errors for worker in workers)


def first_with(
    homes: Sequence[Recollect], texts: Sequence[str], workers: Sequence[Running]
) -> Recollect:
    """Wait until one of the homes has these facts; return it."""

    def having() -> list[Recollect]:
        return [home for home in homes if facts(home) == sorted(texts)]

    wait_until(having, lambda: errors_of(workers))
    return having()[0]


def test_what_a_model_said_moves_with_its_home(
    kafka_url: str, room: Path, server: ModelServer
) -> None:
    home = Recollect(room / "moved", "embedded")
    home.ask("init", "--encoder", "none")
    with_model(home, server)
    home.ask("ingest", write(room / "said.jsonl", said(3)))
    assert home.ask("write")["processed"] == 3
    assert facts(home) == sorted(FERRIES[:3])
    home.ask("promote", "--to", kafka_url)
    there = Recollect(room / "moved", kafka_url)
    asked = len(server.questions)
    assert there.ask("verify")["ok"]
    there.ask("rebuild", "--level", "derive")
    assert facts(there) == sorted(FERRIES[:3])
    there.ask("ingest", write(room / "more.jsonl", said(1, 3)))
    assert there.ask("write")["processed"] == 1
    assert facts(there) == sorted(FERRIES[:4])
    there.ask("forget", "m1")
    assert FERRIES[1] not in facts(there)
    assert there.ask("verify")["ok"]
    assert len(server.questions) == asked + 2


def by_role(body: Body) -> Reply:
    """Keep a message as it stands, unless the role asks for Mondays only."""
    only_mondays = body["messages"][0]["content"].startswith("Only Mondays")
    return (
        say("nothing") if only_mondays and "Monday" not in str(message_of(body)) else keeping(body)
    )


def by_model(home: Recollect) -> list[str]:
    """Return the facts that the model wrote."""
    rows = home.query("memory", "SELECT text FROM facts WHERE metadata LIKE '%scripted%'")
    return sorted(text for (text,) in rows)


def test_another_role_is_read_beside_the_old_and_all_nodes_follow(
    make: Make, tmp_path: Path
) -> None:
    role = tmp_path / "role.txt"
    role.write_text("Only Mondays.")
    change = ("rebuild", "--level", "derive", "--writer-role", str(role))
    with model_server(by_role) as server:
        named = (make(name, RECOLLECT_MODEL_BACKGROUND="false") for name in "ab")
        writing, deciding = (with_model(home, server) for home in named)
        worker = deciding.worker()
        writing.ask("ingest", write(writing.home / "said.jsonl", said(2)))
        assert writing.ask("write")["processed"] == 2
        assert writing.ask(*change, "--dry-run")["written"]["pending"] == 2
        difference = writing.ask(*change, "--diff")["difference"]
        # The rules have a fact of the message in other words.
        assert difference["facts_lost"] + difference["facts_changed"] == 1
        assert by_model(writing) == sorted(FERRIES[:2])
        asked = len(server.questions)
        assert writing.ask(*change)["written"]["calls"] == 0
        assert len(server.questions) == asked
        assert by_model(writing) == FERRIES[:1]
        wait_until(
            lambda: by_model(deciding) == FERRIES[:1], lambda: f"it follows: {worker.errors}"
        )
        deciding.wait_for("default", writing.decided())
        assert worker.stop() == 0, worker.errors
        assert deciding.hashes() == writing.hashes()
        writing.ask("rollback")
        assert by_model(writing) == sorted(FERRIES[:2])
        deciding.once()
        assert by_model(deciding) == sorted(FERRIES[:2])
        assert writing.ask("verify")["problems"] == []
