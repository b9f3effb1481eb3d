"""`recall --batch`: one answer a line, in order, each line with its own options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.app import run
from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.recall.kit import DAY, START, say, tell

Batch = Callable[..., tuple[int, list[dict[str, Any]], str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    directory = tmp_path / "home"
    with Memory(Home.create_or_open(directory, without_encoder=True)) as memory:
        tell(
            memory,
            [
                say("I own a dog.", "a"),
                say("I saw a dog.", "b", by="Bob", at=START + DAY, platform="mail"),
                say("I fed a dog. I fed a cat.", "c", by="Eve", at=START + 2 * DAY),
            ],
        )
    return directory


@pytest.fixture
def batch(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Batch:
    """Return a function that asks a batch: (exit status, answers, stderr)."""

    def ask(*lines: object, options: tuple[str, ...] = ()) -> tuple[int, list[Any], str]:
        path = tmp_path / "batch.jsonl"
        path.write_bytes(
            b"".join(
                (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
                for line in lines
            )
        )
        capfd.readouterr()
        status = run(["--home", str(home), "recall", "--batch", str(path), *options])
        said = capfd.readouterr()
        return status, [json.loads(line) for line in said.out.splitlines()], said.err

    return ask


def sources(answer: dict[str, Any]) -> set[str]:
    return {id_ for result in answer["results"] for id_ in result["source_event_ids"]}


def test_answers_come_in_order_under_their_ids(batch: Batch) -> None:
    status, answers, _ = batch(
        {"id": "z", "query": "cat"}, {"id": 7, "query": "zebra"}, b"", {"id": "a", "query": "saw"}
    )
    assert status == 0
    assert [answer["id"] for answer in answers] == ["z", 7, "a"]
    assert all(set(answer) == {"id", "results", "ms", "relevant"} for answer in answers)
    assert [sources(answer) for answer in answers] == [{"c"}, set(), {"b"}]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"a", "b", "c"}),
        ({"platform": "mail"}, {"b"}),
        ({"entity": "Eve"}, {"c"}),
        ({"after": "2026-01-06T00:00:00Z"}, {"b", "c"}),
        ({"before": START + DAY}, {"a"}),
        ({"after": START, "before": START + 2 * DAY}, {"b"}),
        ({"scope": ["facts"], "platform": "chat"}, {"a", "c"}),
        ({"scope": ["mental_models"]}, set()),
    ],
)
def test_a_line_has_its_own_options(batch: Batch, fields: dict, expected: set) -> None:
    status, (own, plain), _ = batch({"id": 1, "query": "dog", **fields}, {"id": 2, "query": "dog"})
    assert status == 0
    assert sources(own) == expected
    assert sources(plain) == {"a", "b", "c"}


def test_a_line_goes_before_the_commands_own_options(batch: Batch) -> None:
    _, answers, _ = batch(
        {"id": 1, "query": "dog"},
        {"id": 2, "query": "dog", "k": 2, "budget": "low", "platform": "chat"},
        options=("-k", "1", "--platform", "mail"),
    )
    assert [sources(answer) for answer in answers] == [{"b"}, {"a", "c"}]


def test_never_more_than_k(batch: Batch) -> None:
    lines = [
        {"id": str(place), "query": "dog", "k": k, "scope": scope, "budget": budget}
        for place, (k, scope, budget) in enumerate(
            (k, scope, budget)
            for k in (1, 2, 3)
            for scope in (["facts"], ["events"], ["events", "facts", "entities"])
            for budget in ("low", "mid", "high")
        )
    ]
    _, answers, _ = batch(*lines)
    assert all(
        len(answer["results"]) <= int(str(line["k"]))
        for line, answer in zip(lines, answers, strict=True)
    )


def test_a_batch_answers_as_single_questions_do(
    home: Path, batch: Batch, capfd: pytest.CaptureFixture[str]
) -> None:
    questions = ["dog", "Who saw a dog?", "cat"]
    _, answers, _ = batch(*({"id": text, "query": text} for text in questions))
    for text, answer in zip(questions, answers, strict=True):
        assert run(["--home", str(home), "recall", text, "--json"]) == 0
        assert json.loads(capfd.readouterr().out)["results"] == answer["results"]


@pytest.mark.parametrize(
    "bad",
    [
        b"not json",
        b"[]",
        b'{"id": 1}',
        b'{"query": "dog"}',
        b'{"id": 1, "query": 5}',
        b'{"id": 1, "query": "dog", "k": 0}',
        b'{"id": 1, "query": "dog", "k": 1001}',
        b'{"id": 1, "query": "dog", "k": "many"}',
        b'{"id": 1, "query": "dog", "scope": ["dogs"]}',
        b'{"id": 1, "query": "dog", "budget": "max"}',
        b'{"id": 1, "query": "dog", "after": "yesterday"}',
        b'{"id": 1, "query": "dog", "before": "2026-01-05T10:00:00"}',
        b'{"id": 1, "query": "\xff"}',
    ],
)
def test_a_bad_line_is_named_before_anything_is_answered(batch: Batch, bad: bytes) -> None:
    status, answers, said = batch({"id": 1, "query": "dog"}, b"", bad)
    assert status == 2
    assert answers == []
    assert "batch.jsonl:3: " in said


def test_an_empty_batch_is_answered_with_nothing(batch: Batch) -> None:
    assert batch()[:2] == (0, [])


@pytest.mark.parametrize("arguments", [(), ("dog", "--batch", "given")])
def test_either_a_question_or_a_batch(
    home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "given"
    path.write_text("")
    given = [str(path) if argument == "given" else argument for argument in arguments]
    assert run(["--home", str(home), "recall", *given]) == 2
    assert "either" in capfd.readouterr().err
