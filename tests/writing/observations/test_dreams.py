"""Dreams in a home: what a model supposes is checked, evaluated, paid for once, and no memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recollect import Query, Recollect
from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing.model_server import Body, ModelServer, Reply, Script, model_server, say

INSIGHT = "Ada may look for quiet in both."
TOLD = (
    *("I signed up for a pottery class.", "I made a bowl in my pottery class."),
    "My pottery class is on Tuesday.",
    *(f"My horse won prize number {n} in Oslo." for n in range(3)),
)


def data_of(body: Body) -> Any:
    text = body["messages"][1]["content"]
    return json.loads(text[len("<data>\n") : -len("\n</data>")])


def dreaming(surprise: float = 0.9, **change: Any) -> Script:
    """Return a script that dreams of each pair, and gives each dream this surprise."""

    def script(body: Body) -> Reply:
        data = data_of(body)
        if "topics" in data:
            facts = [topic["facts"][0]["fact"] for topic in data["topics"]]
            dream = {"bridge": "both are done alone", "insight": INSIGHT, "facts": facts}
            return say("", ("dream", dream | change))
        kept = [
            ("keep", {"dream": each["dream"], "surprise": surprise}) for each in data["conjectures"]
        ]
        return say("", *kept)

    return script


@contextmanager
def home_of(
    place: Path, script: Script, **settings: object
) -> Iterator[tuple[Memory, ModelServer]]:
    with model_server(script) as server:
        Home.create_or_open(
            place, without_encoder=True, writer="model", agents=["own", "consolidation"]
        )
        given = {"seconds": 60.0, "attempts": 2, **settings}
        lines = [f'accounts = ["{server.url} scripted"]']
        lines += [f"{name} = {value}" for name, value in given.items()]
        (place / "recollect.toml").write_text("[model]\n" + "\n".join(lines) + "\n")
        with Memory(place) as memory:
            for n, text in enumerate(TOLD):
                memory.ingest([said(n, text)])
            yield memory, server


def said(n: int, text: str) -> dict[str, str]:
    at = f"2026-05-{n + 1:02}T10:00:00Z"
    sender = {"sender_id": "ada", "sender_name": "Ada", "thread_id": "t"}
    return {
        "id": f"m{n}",
        "platform": "chat",
        "occurred_at": at,
        "ingested_at": at,
        "content": text,
        **sender,
    }


def insights(memory: Memory) -> list[str]:
    return [each.insight for each in memory.dreams()]


def test_B11_a_dream_is_kept_with_facts_of_both_topics(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, server):
        report = memory.dream()
        assert (report.found, report.candidates, report.reason) == (1, 1, None)
        (found,) = memory.dreams()
        assert (found.insight, found.surprise, found.model) == (INSIGHT, 0.9, "scripted")
        assert found.is_conjecture
        texts = {each.id: each.text for each in memory.facts()}
        cited = sorted(texts[fact] for fact in found.fact_ids)
        assert len(cited) == 2
        assert ["pottery" in text.lower() for text in cited].count(True) == 1
        assert len(server.questions) == 2


def test_B11_what_the_evaluation_leaves_out_is_not_stored(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming(surprise=0.3)) as (memory, _):
        report = memory.dream()
        assert (report.found, report.candidates) == (0, 1)
        assert insights(memory) == []


def test_a_worthless_answer_is_not_evaluated(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming(facts=[99])) as (memory, server):
        assert memory.dream().found == 0
        assert len(server.questions) == 1


def test_a_dream_is_never_recalled_and_no_fact_follows(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, _):
        before = memory.facts()
        memory.dream()
        assert memory.facts() == before
        query = Query(
            "quiet in both", scope=("events", "facts", "observations", "mental_models", "entities")
        )
        results = memory.recall(query).results
        assert not [each for each in results if "quiet" in each.text]


def test_a_rebuild_asks_nothing_and_dreams_the_same(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, server):
        memory.dream()
        before = memory.dreams()
        memory.rebuild("derive")
        assert memory.dreams() == before
        assert len(server.questions) == 2
        assert memory.verify().ok


def test_the_same_dream_is_kept_once(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, _):
        assert [memory.dream().found, memory.dream().found] == [1, 0]
        assert insights(memory) == [INSIGHT]


def test_forgetting_what_the_model_saw_erases_the_dream(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, _):
        memory.dream()
        memory.forget("m0")
        assert insights(memory) == []
        assert memory.verify().ok
    assert files_holding(tmp_path / "home", b"look for quiet") == []


def test_a_dry_run_prices_and_asks_nothing(tmp_path: Path) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, server):
        report = memory.dream(dry_run=True)
        assert report.pairs == 1
        assert report.max_calls >= 2
        assert server.questions == []
        assert insights(memory) == []


def test_without_a_model_it_says_so(tmp_path: Path) -> None:
    Home.create_or_open(tmp_path, without_encoder=True, agents=["own", "consolidation"])
    with Recollect(tmp_path) as home:
        zone = home.zone("ada")
        zone.ingest([said(n, text) for n, text in enumerate(TOLD)])
        report = zone.dream()
        assert report.found == 0
        assert report.reason is not None
        assert "language model" in report.reason


@pytest.mark.parametrize("texts", [(), TOLD[:3]])
def test_without_two_topics_nothing_is_asked(tmp_path: Path, texts: tuple[str, ...]) -> None:
    with home_of(tmp_path / "home", dreaming()) as (memory, server):
        memory.forget(*[f"m{n}" for n, text in enumerate(TOLD) if text not in texts])
        assert memory.dream().reason == ("fewer than two topics have three current facts each")
        assert server.questions == []
