"""What lasts becomes a fact, and what is over with the conversation does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streams.language.statements import analyse

TABLE = Path(__file__).parents[1] / "data" / "worth"
AT = 1_778_248_560_000  # Friday 8 May 2026


def facts(text: str, **context: str) -> list[str]:
    analysis = analyse(text, speaker="Ada", at_ms=AT, **context)  # type: ignore[arg-type]
    return [statement.sentence for statement in analysis.statements]


@pytest.mark.parametrize("half", ["train", "aside"])
def test_sentences_worth_keeping_are_kept_and_others_are_not(half: str) -> None:
    rows = [json.loads(line) for line in (TABLE / f"{half}.jsonl").read_text("utf-8").splitlines()]
    kept = [bool(facts(row["text"])) for row in rows if row["keep"]]
    others = [bool(facts(row["text"])) for row in rows if not row["keep"]]
    assert len(kept) == 264
    assert sum(kept) / len(kept) >= 0.93
    assert sum(others) / len(others) <= 0.07


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm 32 and live in Turin, could you find me a gym?", ["I'm 32 and live in Turin"]),
        ("I have two dogs. Which food is best?", ["I have two dogs."]),
        ("Since I'm allergic to nuts, what can I eat?", ["I'm allergic to nuts"]),
        ("May I remind you that Ada has a kiwi allergy?", ["Ada has a kiwi allergy?"]),
        (
            "I got the Tuesday shift at the shop, wednesdays ok?",
            ["I got the Tuesday shift at the shop"],
        ),
        ("If I move to Rome, what should I see?", []),
        ("You moved to Berlin, right?", []),
    ],
)
def test_what_is_said_beside_a_question_is_kept(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I took a writing class, and it was super enlightening!", ["I took a writing class"]),
        ("I bought a boat, but it sank.", ["I bought a boat, but it sank."]),
        (
            "The dog isn't called Rex, his name is Max.",
            ["The dog isn't called Rex, his name is Max."],
        ),
        (
            "I don't live in Cologne, I moved to Aachen.",
            ["I don't live in Cologne", "I moved to Aachen."],
        ),
    ],
)
def test_a_comment_goes_and_what_takes_something_back_stays(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_a_few_words_that_answer_a_question_are_kept_with_it() -> None:
    said = analyse("Tuesday, at ten.", speaker="Ada", at_ms=AT, asked="When is your physio?")
    assert [statement.text for statement in said.statements] == [
        'Asked "When is your physio?", Ada answered: Tuesday (2026-05-12), at ten.'
    ]
    assert facts("Tuesday, at ten.", asked="") == facts("Tuesday, at ten.")


def test_a_plain_fact_about_nobody_here_is_kept_only_where_facts_are_dictated() -> None:
    text = "The capital of Mongolia is Ulaanbaatar."
    assert facts(text) == []
    dictated = analyse(text, speaker="Ada", at_ms=AT, dictated=True)
    assert [statement.sentence for statement in dictated.statements] == [text]
