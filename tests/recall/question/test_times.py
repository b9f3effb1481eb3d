"""The times that a question names, and what is searched for beside them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from recollect.projections.memory import MemoryModel
from recollect.projections.memory.facts_for_recall import facts_about_days
from recollect.projections.recall.question.times.time_spans import times_in
from recollect.projections.sqlite import rows
from recollect.schemas.changes import Fact, FactDays, Section
from tests.memory import Memory
from tests.recall.kit import DAY, START, ask, cited, say, tell

#: A Wednesday.
ASKED_AT = int(datetime(2025, 10, 15, 12, tzinfo=UTC).timestamp() * 1000)


def days(question: str) -> list[tuple[str, str]]:
    """Return the first and last day of each time in a question."""
    return [
        (
            f"{datetime.fromtimestamp(first / 1000, UTC):%F}",
            f"{datetime.fromtimestamp(last / 1000, UTC):%F}",
        )
        for first, last in times_in(question, ASKED_AT, 0).spans
    ]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("In May, which doctor did Ada see?", "2025-05-01", "2025-05-31"),
        ("In November, which doctor did Ada see?", "2024-11-01", "2024-11-30"),
        ("On December 3rd, where was Ada?", "2024-12-03", "2024-12-03"),
        ("Who came for dinner on Friday?", "2025-10-10", "2025-10-10"),
        ("What did Ada plant in spring?", "2025-03-01", "2025-05-31"),
        ("What did Ada do between 20 and 24 March?", "2025-03-20", "2025-03-24"),
        ("Between March 28 and April 2, who called?", "2025-03-28", "2025-04-02"),
        ("What did Ada read over the last two weeks?", "2025-10-02", "2025-10-15"),
        ("Who called in the past week?", "2025-10-09", "2025-10-15"),
    ],
)
def test_a_time_without_a_year_is_the_last_that_has_begun(
    question: str, first: str, last: str
) -> None:
    assert days(question) == [(first, last)]


def test_a_question_about_the_future_means_the_next() -> None:
    assert days("Where will Ada travel in May?") == [("2026-05-01", "2026-05-31")]


@pytest.mark.parametrize(
    "question",
    ["On which Friday did Ada call?", "What stands between the sofa and the wall?", "May I ask?"],
)
def test_names_no_time(question: str) -> None:
    assert times_in(question, ASKED_AT, 0) == ((), question)


def test_its_words_are_not_searched_for() -> None:
    topic = times_in("In March 2025, what did Ada paint?", ASKED_AT, 0).topic
    assert topic.split() == [",", "what", "did", "Ada", "paint?"]


def test_an_appointment_years_ahead_is_not_today(words_only: Memory) -> None:
    tell(
        words_only,
        [
            say("I painted the fence.", "fence"),
            say("I painted the gate.", "gate", at=START + 12 * DAY),
            say("I shall have painted it all.", "ahead", at=4_070_908_800_000),
        ],
    )
    assert cited(ask(words_only, "What did Ada paint two weeks ago?"))[0] == "fence"
    assert cited(ask(words_only, "What did Ada paint today?"))[0] == "gate"


@pytest.mark.parametrize(
    "question",
    ["What happened in March 2026?", "What did Ada do in March 2026?", "What happened in March?"],
)
def test_of_a_time_alone_all_is_found_and_nothing_else(words_only: Memory, question: str) -> None:
    tell(
        words_only,
        [
            say("It happened to rain.", "january"),
            say("The kiln broke.", "march", at=START + 60 * DAY),
            say("We fired the new kiln.", "later", at=START + 70 * DAY),
            say("May the oven last.", "april", at=START + 100 * DAY),
        ],
    )
    found = ask(words_only, question)
    assert set(cited(found)) == {"march", "later"}
    assert all(item.score >= 0.35 for item in found)


def test_of_a_time_without_a_turn_nothing_is_excluded(words_only: Memory) -> None:
    tell(words_only, [say("It happened to rain.", "january")])
    assert cited(ask(words_only, "What happened in March 2019?")) == ["january"]


def test_a_turn_that_names_a_day_is_of_that_day(words_only: Memory) -> None:
    tell(
        words_only,
        [
            say("The choir sings on 3 June 2026 in the barn.", "named"),
            say("The choir sings in the barn.", "other", at=START + DAY),
        ],
    )
    of_june = "What did the choir sing in June 2026?"
    first = ask(words_only, of_june, explain=True, scope=("events",))[0]
    assert cited([first]) == ["named"]
    assert first.arms is not None
    assert first.arms["temporal"] == 1


def test_facts_about_days_are_searched_for_not_scanned() -> None:
    first_days = [date(2026, 1, 1) + timedelta(n % 50) for n in range(200)]
    put = [
        FactDays(f"f{n}", str(first), str(first + timedelta(n % 7 if n % 3 else 0)))
        for n, first in enumerate(first_days)
    ]
    facts = [Fact(row.fact_id, "", None, 0, 0, "e", "{}", 0, row.fact_id) for row in put]
    memory = MemoryModel(None)
    memory.project([Section(puts=(*facts, *put))])
    rowids: dict[str, int] = dict(rows(memory.connection, "SELECT id, rowid FROM facts"))
    for first, last in (
        ("2026-01-05", "2026-01-05"),
        ("2026-01-20", "2026-02-03"),
        ("2025", "2027"),
    ):
        meant = [
            (rowids[row.fact_id], first <= row.first_day and row.last_day <= last)
            for row in put
            if row.first_day <= last and row.last_day >= first
        ]
        assert sorted(facts_about_days(memory.connection, first, last)) == sorted(meant)
    statements: list[str] = []

    def note(_: object, statement: str, bound: object) -> bool:
        statements.append(statement)
        return True

    memory.connection.exec_trace = note
    facts_about_days(memory.connection, "2026-01-05", "2026-01-07")
    memory.connection.exec_trace = None
    plan = memory.connection.execute(f"EXPLAIN QUERY PLAN {statements[0]}", ("", "")).fetchall()
    assert not [step for *_, step in plan if "SCAN" in str(step)]
