"""Chains: from a name in a question, over current slots, to the fact that answers it (F7)."""

from __future__ import annotations

import pytest

from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, say, tell
from tests.recall.test_past import forget

BORN = "In which city was the one born who is married to the author of Emma?"


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def books(request: pytest.FixtureRequest, open_memory: Open) -> Memory:
    memory = open_memory(encoder=request.param)
    tell(
        memory,
        [
            say("The author of Emma is Jane Holm.", "author"),
            say("Jane Holm is married to Rui Leal.", "married"),
            say("Rui Leal was born in the city of Porto.", "porto"),
            say("Jane Holm was born in the city of Oslo.", "oslo"),
            say("Emma is a city girl who was born lucky, says the author.", "chat"),
            say("I was born to be married to my books.", "joke"),
        ],
    )
    return memory


def first(results: list[Result]) -> str:
    return results[0].source_event_ids[0]


@pytest.mark.parametrize("scope", [("facts",), ("events",), ("events", "facts")])
def test_the_fact_at_the_end_comes_first(books: Memory, scope: tuple[str, ...]) -> None:
    assert first(ask(books, BORN, scope=scope)) == "porto"


def test_the_explanation_has_the_facts_on_the_way(books: Memory) -> None:
    found = ask(books, BORN, explain=True)
    assert [fact.text for fact in found[0].hop_path] == [
        "Ada: The author of Emma is Jane Holm.",
        "Ada: Jane Holm is married to Rui Leal.",
    ]
    assert not any(result.hop_path for result in found[1:])
    assert not any(result.hop_path for result in ask(books, BORN))


def test_a_shorter_chain_is_followed_no_further(books: Memory) -> None:
    assert first(ask(books, "In which city was the author of Emma born?")) == "oslo"


def test_what_one_fact_says_is_answered_by_it(books: Memory) -> None:
    assert first(ask(books, "Who is the author of Emma?")) == "author"


def test_a_question_of_something_else_is_led_nowhere(books: Memory) -> None:
    found = ask(books, "Which dog barked at Emma yesterday night in the rain?", explain=True)
    assert not any(result.hop_path for result in found)


def test_a_newer_value_leads_elsewhere_and_once_forgotten_no_longer(books: Memory) -> None:
    tell(
        books,
        [
            say("Ana Prado was born in the city of Lima.", "lima", at=START + DAY),
            say("Jane Holm is married to Ana Prado.", "again", at=START + 2 * DAY),
        ],
    )
    assert first(ask(books, BORN)) == "lima"
    assert first(ask(books, BORN, valid_at=START + DAY)) == "porto"
    books.node.ledger.publish(books.zone, [forget(8)])
    books.drive()
    found = ask(books, BORN, explain=True)
    assert first(found) == "porto"
    assert "Ana Prado" not in str(found[0].hop_path)


def test_no_chain_goes_over_what_the_filters_leave_out(books: Memory) -> None:
    tell(
        books,
        [
            say("The author of Emma is Jane Holm.", "once more", at=START + DAY),
            say("Rui Leal was born in the city of Faro.", "faro", at=START + DAY),
        ],
    )
    assert first(ask(books, BORN)) == "faro"
    found = ask(books, BORN, time_after=START + 1, explain=True)
    assert not any(result.hop_path for result in found)


def test_a_circle_ends(open_memory: Open) -> None:
    memory = open_memory(encoder=False)
    tell(
        memory,
        [
            say("Ana Prado is married to Joe Hill.", "one"),
            say("Joe Hill is married to Ana Prado.", "two"),
        ],
    )
    assert ask(memory, "Who is married to the one married to Ana Prado?")
