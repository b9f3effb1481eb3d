"""With the real encoder: a block opens where the answer is there, and not where nothing is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from tests.protocol.kit import in_memory
from training import small_memories

DEMO = Path(__file__).resolve().parents[2] / "demo"
QUESTIONS = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text().splitlines()]
NOTHING = [
    "What is the capital of Mongolia?",
    "Write a limerick about a lighthouse.",
    "How do I convert a string to an integer in Rust?",
    "Translate this paragraph into Portuguese.",
    "continue",
    "Which planets have rings?",
    "Act as a chess coach and explain the Sicilian Defence.",
    "Summarise the causes of the First World War.",
]
NAMES = ("couple", "notes", "tiny", "freelancer")


@pytest.fixture(scope="module")
def library() -> Iterator[Recollect]:
    with in_memory() as room:
        home = Home.create_or_open(room / "home", encoder="all-MiniLM-L6-v2", source="wheel")
        with Recollect(home) as r:
            lines = (DEMO / "export.jsonl").read_text("utf-8").splitlines()
            r.zone("demo").ingest([json.loads(line) for line in lines])
            for memory in small_memories.memories():
                if memory.name in NAMES:
                    r.zone(memory.name).ingest(memory.events)
            yield r


def sources(zone: Zone, task: str) -> set[str]:
    return {id_ for item in zone.context(task).items for id_ in item.source_event_ids}


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_A25_each_question_of_the_demo_gets_what_answers_it(
    library: Recollect, question: dict[str, object]
) -> None:
    expected = question["expect"]
    assert isinstance(expected, list)
    assert sources(library.zone("demo"), str(question["query"])) & set(expected)


@pytest.mark.parametrize("name", ["demo", *NAMES])
def test_A25_what_anybody_might_ask_opens_nothing(library: Recollect, name: str) -> None:
    zone = library.zone(name)
    assert [task for task in NOTHING if zone.context(task).block] == []


def test_A25_of_small_memories_most_questions_get_their_answer(library: Recollect) -> None:
    held = asked_ = opened = unanswerable = 0
    for memory in small_memories.memories():
        if memory.name in NAMES:
            zone = library.zone(memory.name)
            for question, answer in memory.answered:
                asked_ += 1
                held += answer.lower() in zone.context(question).block.lower()
            unanswerable += len(memory.unanswered)
            opened += sum(bool(zone.context(question).block) for question in memory.unanswered)
    assert held >= 0.75 * asked_
    assert opened < 0.5 * unanswerable
