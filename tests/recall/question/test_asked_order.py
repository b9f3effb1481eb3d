"""Questions about the first or the last occasion."""

from __future__ import annotations

import pytest

from recollect.projections.recall.question.times.asked_order import asked_order
from recollect.schemas.events import Draft
from tests.memory import Memory
from tests.recall.kit import DAY, START, ask, cited, say, tell


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("When did I last oil the hinges?", "last"),
        ("When was the last time Ann rowed?", "last"),
        ("What is the most recent price of the oak table?", "last"),
        ("What was the latest word from the roofer?", "last"),
        ("When did Bob and Cleo first sing together?", "first"),
        ("Where did we row for the first time?", "first"),
        ("What is the earliest ferry that I took?", "first"),
        ("Where did Ann go last week?", None),
        ("What did Ann do last Tuesday?", None),
        ("What did Ann buy on the first of May?", None),
        ("What is the last name of Bob?", None),
        ("Which plan did we finally choose?", None),
        ("Where does Ann row?", None),
    ],
)
def test_a_question_asks_for_an_occasion(question: str, order: str | None) -> None:
    assert asked_order(question) == order


def rowing() -> list[Draft]:
    """Return four turns of rowing on as many days, in no order, and one of something else."""
    return [
        say(f"{who} rowed on the pond.", f"day-{day}", at=START + day * DAY, peer_id=who)
        for who, day in (("Bob", 9), ("Cleo", 3), ("Dana", 27), ("Eli", 15))
    ] + [say("The hinges squeak.", "other", at=START + 40 * DAY, peer_id="elsewhere")]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("When did we last row on the pond?", "day-27"),
        ("When was the first time we rowed on the pond?", "day-3"),
    ],
)
def test_the_occasion_that_is_asked_for_comes_first(
    words_only: Memory, question: str, first: str
) -> None:
    tell(words_only, rowing())
    assert cited(ask(words_only, question, scope=("events",)))[0] == first
