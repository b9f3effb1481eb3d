"""Causes across messages: "That's why …", "Because …", and what is only named again."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import CausalLink, Fact
from recollect.schemas.events import Draft
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, HOUR, MINUTE, START, Zone, says

LEG = "I broke my leg."
LATE = "That's why I missed the concert."


def linked(*drafts: Draft) -> list[tuple[str, str]]:
    """Return (cause, effect) of all links after these records, by the sentences."""
    home = Zone(RuleWriter()).given(*drafts)
    sql = (
        "SELECT cause.text, effect.text FROM causal_links "
        "JOIN facts AS cause ON cause.id = from_fact_id "
        "JOIN facts AS effect ON effect.id = to_fact_id ORDER BY effect.as_of"
    )
    return [(str(cause), str(effect)) for cause, effect in home.ask("memory", sql)]


def test_that_is_why_links_to_what_was_said_just_before() -> None:
    ((cause, effect),) = linked(says("Ada", LEG), says("Ada", LATE, at=START + MINUTE))
    assert "leg" in cause
    assert "missed the concert" in effect


def test_it_may_be_another_who_says_why() -> None:
    ((cause, effect),) = linked(
        says("Ada", "I dropped our database on Monday."),
        says("Bob", "That is why my report was empty today.", at=START + MINUTE),
    )
    assert "database" in cause
    assert "report" in effect


@pytest.mark.parametrize(
    "before",
    [
        says("Ada", LEG, at=START - HOUR - MINUTE),
        says("Ada", LEG, thread_id="elsewhere"),
        says("Ada", "Did I break my leg?"),
        says("Bot", LEG, direction="out"),
        says("Ada", "ok"),
    ],
    ids=["long ago", "another thread", "a question", "an assistant", "nothing"],
)
def test_what_was_not_just_said_is_no_cause(before: Draft) -> None:
    assert linked(before, says("Ada", LATE, at=START + MINUTE)) == []


def test_because_answers_why() -> None:
    ((cause, effect),) = linked(
        says("Ada", "I quit my job at Acme last week."),
        says("Bob", "Oh no, why?", at=START + MINUTE),
        says("Ada", "Because my boss cut my salary by a third.", at=START + 2 * MINUTE),
    )
    assert "salary" in cause
    assert "quit my job" in effect


def test_because_answers_a_question_about_what_was_said_earlier() -> None:
    ((cause, effect),) = linked(
        says("Ada", "I sold my boat in May."),
        says("Ada", "I bought a guitar in June.", at=START + MINUTE),
        says("Bob", "Why did you sell the boat?", at=START + 2 * MINUTE),
        says("Ada", "Because the harbour doubled my fees.", at=START + 3 * MINUTE),
    )
    assert "harbour" in cause
    assert "boat" in effect


def test_because_after_a_question_that_asks_no_reason_is_no_link() -> None:
    assert (
        linked(
            says("Ada", "I sold my boat in May."),
            says("Bob", "When was that?", at=START + MINUTE),
            says(
                "Ada", "Because my brother moved to Oslo I was in a hurry.", at=START + 2 * MINUTE
            ),
        )
        == []
    )


def test_what_is_named_again_is_found_in_the_conversation() -> None:
    ((cause, effect),) = linked(
        says("Bob", "A storm hit our village on Monday."),
        says("Ada", "I have two cats.", at=START + HOUR),
        says("Ada", "My flight to Oslo was cancelled because of the storm.", at=START + 2 * HOUR),
    )
    assert "village" in cause
    assert "Oslo" in effect


def test_a_hearing_is_an_event_though_it_is_also_a_courtesy() -> None:
    ((cause, effect),) = linked(
        says("Ada", "The hearing in Bonn took the whole of Tuesday.", at=START + HOUR),
        says("Ada", "I missed my flight to Oslo because of the hearing.", at=START + 2 * HOUR),
    )
    assert "Bonn" in cause
    assert "Oslo" in effect


@pytest.mark.parametrize(
    ("before", "later"),
    [
        (("A storm hit our village on Monday. Bob loves the storm scene in my play.",), HOUR),
        (("A storm hit our village on Monday.",), DAY + HOUR),
        (("I have two cats.",), HOUR),
    ],
    ids=["two may be meant", "too long ago", "nothing of the kind"],
)
def test_what_may_be_something_else_is_no_cause(before: tuple[str, ...], later: int) -> None:
    said = [says("Bob", words) for words in before]
    again = says("Ada", "My flight to Oslo was cancelled because of the storm.", at=START + later)
    assert linked(*said, again) == []


def test_a_cause_that_is_known_already_is_linked_as_it_stands() -> None:
    """What is said again becomes no new fact; the link goes to the one that is there."""
    home = Zone(RuleWriter()).given(says("Ada", "I broke my leg."))
    (known,) = home.ask("memory", "SELECT id FROM facts")
    outcome = home.read(
        says("Ada", "I missed the concert because I broke my leg.", at=START + HOUR)
    )
    (link,) = outcome.rows(CausalLink)
    (missed,) = outcome.rows(Fact)
    assert (link.from_fact_id, link.to_fact_id) == (known[0], missed.id)


def test_a_link_to_another_message_rests_on_both() -> None:
    home = Zone(RuleWriter()).given(says("Ada", LEG))
    outcome = home.read(says("Ada", LATE, at=START + MINUTE))
    assert outcome.sources_of(CausalLink) == [(1, 2)]


def test_nothing_leads_to_itself_or_in_a_circle() -> None:
    found = linked(
        says("Ada", "I sold my boat because I broke my leg."),
        says("Ada", "I broke my leg because I sold my boat.", at=START + HOUR),
        says("Ada", "I sold my boat because I sold my boat.", at=START + 2 * HOUR),
    )
    assert ("Ada: I sold my boat", "Ada: I sold my boat") not in found
    assert all(cause != effect for cause, effect in found)
