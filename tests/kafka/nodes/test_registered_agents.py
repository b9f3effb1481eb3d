"""The nodes of a ledger have the same agents, also those of somebody else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from tests.foreign_agent import TOY, write_package
from tests.kafka.conftest import Make
from tests.kafka.kit import ROOT, Recollect, line, post_events, write

BOTH = ["own", TOY]


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder with an agent of somebody else, on the import path; that for other processes."""
    folder = write_package(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(folder)
    yield os.pathsep.join((str(folder), str(ROOT)))
    for name in [name for name in sys.modules if name.partition(".")[0] == "toys"]:
        del sys.modules[name]


def name_agents(home: Recollect, agents: list[str]) -> None:
    """Edit a home's configuration."""
    path = home.home / "home.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"agents": agents}))


def rated(home: Recollect) -> list[str]:
    """Return what the toy has said."""
    found = home.query("memory", "SELECT text FROM facts WHERE text LIKE '%of 5' ORDER BY text")
    return [str(text) for (text,) in found]


def test_workers_and_replicas_have_the_agent_that_the_first_had(
    make: Make, kafka_url: str, toys: str, tmp_path: Path
) -> None:
    worker, replica = make("a", PYTHONPATH=toys), make("b", PYTHONPATH=toys)
    for home in (worker, replica):
        name_agents(home, BOTH)
    deciding, following = worker.worker(), replica.replica()
    post_events(kafka_url, "default", [line("m1", "I give the boat 4 stars.")])
    for home in (worker, replica):
        home.wait_for("default", 1)
        assert [text.split(" ", 1)[1] for text in rated(home)] == ["rates the boat 4 of 5"]
    assert worker.hashes() == replica.hashes()
    assert worker.ask("status")["agents"] == BOTH

    for agents in (["own"], [TOY, "own"]):
        other = make(f"other-{agents[0][:3]}")
        name_agents(other, agents)
        refused = other.run("ingest", write(tmp_path / "more.jsonl", [line("m2", "Hello.")]))
        assert refused.status == 2
        said = f"with the agents {','.join(BOTH)}, but this home uses {','.join(agents)}:"
        assert said in refused.errors
    assert (deciding.stop(), following.stop()) == (0, 0)
    worker.ask("rebuild", "--level", "derive")
    assert len(rated(worker)) == 1


@pytest.mark.parametrize("command", ["status", "worker", "replica"])
def test_a_home_with_other_agents_is_refused(make: Make, toys: str, command: str) -> None:
    make("a").ask("status")
    other = make("b", PYTHONPATH=toys)
    name_agents(other, BOTH)
    refused = other.start(command)
    assert refused.ended() == 2, refused.errors
    for word in ("the agents own,", f"own,{TOY}", "recollect init --agents own"):
        assert word in refused.errors


def test_a_ledger_of_an_older_build_has_recollects_own_agents(
    make: Make, toys: str, tmp_path: Path
) -> None:
    """It agreed on no agents: here its topics are written by a node that cannot say any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KafkaLedger, "_check_agents", lambda *_: None)
        older = make("older")
        name_agents(older, ["own"])
        older.ask("ingest", write(tmp_path / "one.jsonl", [line("m1", "I live in Bern.")]))
    # A replica has no say, and follows.
    late = make("late")
    replica = late.replica()
    late.wait_for("default", 1)
    assert replica.stop() == 0
    new = make("new", PYTHONPATH=toys)
    name_agents(new, BOTH)
    refused = new.run("status")
    assert refused.status == 2
    assert "with the agents own," in refused.errors
    own = make("own")
    name_agents(own, ["own"])
    assert own.ask("status")["agents"] == ["own"]
    assert own.ask("status")["events"] == 1


def test_a_home_that_moves_to_kafka_brings_its_agents(
    make: Make, kafka_url: str, toys: str, tmp_path: Path
) -> None:
    moving = make("moving", "embedded", PYTHONPATH=toys)
    name_agents(moving, BOTH)
    moving.ask("ingest", write(tmp_path / "a.jsonl", [line("m1", "I give the boat 4 stars.")]))
    moving.ask("promote", "--to", kafka_url)
    refused = make("other").run("status")
    assert refused.status == 2
    said = f"with the agents {','.join(BOTH)}, but this home uses own,consolidation:"
    assert said in refused.errors

    moved = Recollect(moving.home, kafka_url, PYTHONPATH=toys)
    moved.ask("ingest", write(tmp_path / "b.jsonl", [line("m2", "I give the train 2 stars.")]))
    assert len(rated(moved)) == 2
