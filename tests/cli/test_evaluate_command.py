"""`evaluate` prints figures and missed sources, and names lines that are not questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Shell, said


@pytest.fixture
def held(shell: Shell) -> Shell:
    """A zone that holds where two people live."""
    shell.ingest(
        said("m-1", "I live in Rome.", at="2026-05-01T10:00:00Z"),
        said("m-2", "I keep bees in Oslo.", "Bob", at="2026-05-01T11:00:00Z"),
    )
    return shell


def written(folder: Path, *lines: object) -> str:
    """Return the path of a file with these lines."""
    path = folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def test_figures_and_misses_read_as_text(held: Shell, tmp_path: Path) -> None:
    questions = written(
        tmp_path,
        {"query": "Who keeps bees?", "sources": ["m-2"]},
        {"query": "Who keeps bees?", "sources": ["m-1", "gone"]},
    )
    lines = held("evaluate", questions, "-k", "1").out.splitlines()
    assert lines[0] == "2 questions with 2 sources, 1 result each"
    assert lines[2].split() == ["1", "50.0%"]
    assert "mean reciprocal rank 0.500" in lines[3]
    assert any("missed m-1: dropped by" in line for line in lines)
    assert lines[-1].endswith("gone")


def test_json_has_the_rank_of_each_source(held: Shell, tmp_path: Path) -> None:
    questions = written(tmp_path, {"id": 7, "query": "Who keeps bees?", "sources": ["m-2"]})
    (report,) = held("evaluate", questions, "--json").json()
    assert report["recall_at"]["1"] == 1.0
    assert report["answers"][0]["id"] == 7
    assert report["answers"][0]["ranks"] == {"m-2": 1}


def test_a_line_that_is_no_question_is_named(held: Shell, tmp_path: Path) -> None:
    questions = written(tmp_path, {"query": "Who?", "sources": ["m-1"]}, {"query": "Who?"})
    done = held("evaluate", questions)
    assert done.status == 2
    assert "questions.jsonl:2" in done.err
    assert "sources" in done.err
