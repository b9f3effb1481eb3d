"""`extract --writer` shows what a model would add to the rules, and keeps nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.kit import Done, Json, Shell, said
from tests.memory import Memory
from tests.protocol.kit import files_holding
from tests.writing import scripts
from tests.writing.conftest import writing_home
from tests.writing.model_server import ModelServer, Reply, Script, in_turn, model_server, say
from tests.writing.scripts import good, message_of

DEPLOY = "The deploy is on Fridays at Marlowe Labs."
CHAT = [
    said("m-1", "I live in Trondheim.", "Ada", at="2026-05-08T13:00:00Z"),
    said("m-2", DEPLOY, "Bob", at="2026-05-08T13:01:00Z"),
    said("m-3", "My sister Ann breeds alpacas.", "Ada", at="2026-05-08T13:02:00Z"),
    said("m-4", "Walnuts give me hives.", "Bob", at="2026-05-08T13:03:00Z"),
]


@contextmanager
def shell_with(
    room: Path, script: Script, **settings: object
) -> Iterator[tuple[Shell, ModelServer]]:
    """Return a shell in a room with a chat, without home, and the model that it may ask."""
    with model_server(script) as server:
        shell = Shell(room)
        given = {"accounts": f"{server.url} scripted", "attempts": 1} | settings
        for name, value in given.items():
            shell.environment[f"RECOLLECT_MODEL_{name.upper()}"] = str(value)
        (room / "chat.jsonl").write_text("".join(json.dumps(event) + "\n" for event in CHAT))
        yield shell, server


def extracted(shell: Shell, *options: str) -> Done:
    return shell("extract", "chat.jsonl", *options)


def facts(lines: list[Json]) -> list[tuple[object, ...]]:
    return [
        (fact["id"], fact["text"], fact["as_of"], fact["attribute"], tuple(fact["entities"]))
        for line in lines
        for fact in line["facts"]
    ]


@pytest.mark.usefixtures("nothing_salient")
def test_it_shows_what_a_home_would_hold_after_writing(tmp_path: Path) -> None:
    with shell_with(tmp_path, good) as (shell, _):
        done = extracted(shell, "--writer", "model", "--json")
    assert done.status == 0, done.err
    lines = done.json()
    assert [line["id"] for line in lines] == [event["id"] for event in CHAT]
    assert DEPLOY in [fact["text"] for fact in lines[1]["facts"]]
    with writing_home(tmp_path / "other", good) as (memory, server):
        memory.ingest(CHAT)
        report = memory.write()
        held = [
            (fact.id, fact.text, fact.as_of, fact.attribute, tuple(fact.entities))
            for fact in memory.facts(superseded=True)
        ]
    assert sorted(map(repr, facts(lines))) == sorted(map(repr, held))
    said_of = [line["model_usage"] for line in lines]
    assert {each["model"] for each in said_of} == {"scripted"}
    assert sum(each["accepted"] for each in said_of) == report.accepted
    assert sum(each["calls"] for each in said_of) == report.calls == len(server.questions)


@pytest.mark.usefixtures("nothing_salient")
def test_two_writers_stand_side_by_side(tmp_path: Path) -> None:
    with shell_with(tmp_path, good) as (shell, _):
        both = extracted(shell, "--writer", "both", "--json").json()
        rules = extracted(shell, "--json").json()
        model = extracted(shell, "--writer", "model", "--json").json()
        shown = extracted(shell, "--writer", "both").out
    assert [line["writer"] for line in both] == ["rules", "model"] * len(CHAT)
    assert both[::2] == rules
    assert both[1::2] == model
    assert f"  + {DEPLOY}" in shown
    assert "  = Ada lives in Trondheim." in shown
    assert "scripted: 4 calls, 1 kept" in shown


def test_nothing_is_stored(tmp_path: Path) -> None:
    with shell_with(tmp_path, good) as (shell, server):
        assert extracted(shell, "--writer", "both").status == 0
        assert not (tmp_path / "home").exists()
        assert shell("init", "--encoder", "none", "--writer", "model").status == 0
        shell.ingest(said("other", "I like tea."))
        before = shell("status", "--json").json()
        asked = len(server.questions)
        assert extracted(shell, "--writer", "model").status == 0
        assert len(server.questions) > asked
        assert shell("status", "--json").json()[0]["head"] == before[0]["head"]
    home = tmp_path / "home"
    assert files_holding(home, b"Marlowe", b"marlowe", b"Trondheim", b"alpacas") == []
    with Memory(home) as memory:
        assert memory.status().model_usage is None
        assert memory.verify().ok


def test_what_it_spends_counts_against_the_budget_of_the_home(tmp_path: Path) -> None:
    with shell_with(tmp_path, good, tokens_per_day=9_000, answer_tokens=100) as (shell, server):
        assert shell("init", "--encoder", "none").status == 0
        while (done := extracted(shell, "--writer", "model", "--json")).status == 0:
            assert len(server.questions) < 500
        assert "model.tokens_per_day" in done.err
        assert extracted(shell, "--writer", "model").status == 1
        # The script says that each answer took 120.
        assert len(server.questions) * 120 <= 9_000


def test_without_a_model_it_says_how_to_name_one(tmp_path: Path) -> None:
    with shell_with(tmp_path, good, accounts="") as (shell, _):
        for writer in ("model", "both"):
            done = extracted(shell, "--writer", writer, "--json")
            assert done.status == 2
            assert done.out == ""
            assert "model.accounts" in done.err
            assert "recollect.toml" in done.err
        assert extracted(shell).status == 0


def test_the_price_is_told_before_anybody_is_asked(tmp_path: Path) -> None:
    with shell_with(tmp_path, good, price_in=2, price_out=8) as (shell, server):
        price = extracted(shell, "--writer", "model", "--dry-run", "--json").json()[0]
        shown = extracted(shell, "--writer", "both", "--dry-run").out
        assert server.questions == []
        done = extracted(shell, "--writer", "model", "--json")
        asked = len(server.questions)
    assert price["pending"] == len(CHAT)
    assert price["min_calls"] <= asked <= price["calls"]
    cost = sum(line["model_usage"]["cost"] for line in done.json())
    assert 0 < cost <= price["cost"]
    assert f"{price['calls']:,}" in shown
    assert f"cost {price['min_cost']:.4f} to {price['cost']:.4f}" in done.err
    refused = extracted(shell, "--dry-run")
    assert refused.status == 2
    assert "--writer model" in refused.err


@pytest.mark.parametrize(
    "script",
    [
        scripts.refusing,
        scripts.hostile,
        scripts.contradictory,
        scripts.truncated,
        *(scripts.random_model(seed) for seed in range(3)),
        in_turn(Reply(b"", 422)),
    ],
    ids=["refusing", "hostile", "contradictory", "truncated", "r0", "r1", "r2", "unfit"],
)
def test_the_worst_model_takes_no_fact_away(tmp_path: Path, script: Script) -> None:
    with shell_with(tmp_path, script) as (shell, _):
        done = extracted(shell, "--writer", "both", "--json")
    assert done.status == 0, done.err
    lines = done.json()
    for rules, model in zip(lines[::2], lines[1::2], strict=True):
        assert [fact for fact in model["facts"] if fact in rules["facts"]] == rules["facts"]
        for fact in model["facts"]:
            for word in ("Mallory", "1911", "99999", "instructions", "</data>"):
                assert word not in fact["text"]


def test_where_nobody_answers_it_says_so_and_what_was_shown_stands(tmp_path: Path) -> None:
    def script(body: object) -> Reply:
        assert isinstance(body, dict)
        return Reply(b"", 503) if message_of(body)["content"] == DEPLOY else good(body)

    with shell_with(tmp_path, script) as (shell, _):
        done = extracted(shell, "--writer", "model", "--json")
    assert done.status == 1
    assert [line["id"] for line in done.json()] == ["m-1"]
    assert "no model answered" in done.err


def test_an_assistant_is_not_put_before_it_and_a_deleted_message_neither(tmp_path: Path) -> None:
    with shell_with(tmp_path, in_turn(say("nothing"))) as (shell, server):
        events = [
            said("a-1", "You should buy a zeppelin.", "Helper") | {"direction": "out"},
            said("a-2", "I like tea."),
            {**said("a-2x", "", "Ada"), "kind": "deletion", "target": "a-2"},
            {**said("a-2y", "I like coffee."), "kind": "edit", "target": "a-2"},
        ]
        (tmp_path / "chat.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events))
        lines = extracted(shell, "--writer", "model", "--json").json()
        assert [message_of(body)["content"] for body in server.questions] == ["I like tea."]
    assert ["model_usage" in line for line in lines] == [False, True, False, False]


def test_it_is_told_the_role_of_the_zone(tmp_path: Path) -> None:
    with shell_with(tmp_path, good) as (shell, server):
        assert shell("init", "--encoder", "none", "--writer", "model").status == 0
        shell.ingest(said("other", "I like tea."))
        assert shell("writer", "--note", "names", "Mel is Melanie.").status == 0
        done = extracted(shell, "--writer", "model", "--json")
        assert "Mel is Melanie." in server.questions[-1]["messages"][0]["content"]
        assert done.json()[0]["model_usage"]["role"].startswith("own-2+notes-")
        extracted(shell, "--writer", "model", "--zone", "empty")
        assert "Mel is Melanie." not in server.questions[-1]["messages"][0]["content"]
