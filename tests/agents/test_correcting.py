"""What a message takes back of one before it in its conversation ends there (F7)."""

from __future__ import annotations

import pytest

from schemas.changes import Fact, FactSupersession
from streams.agents.writer import RuleWriter
from tests.agents.kit import HOUR, START, Zone, says

TALK = "My long talk about maps is in Room 101."
HELD = "Ada's long talk about maps is in Room 101."


def zone() -> Zone:
    return Zone(RuleWriter()).given(says("Ada", TALK, id="talk", peer_id="c"))


def test_the_fact_with_the_value_ends_by_the_fact_that_corrects_it() -> None:
    home = zone()
    outcome = home.read(
        says(
            "Ada", "My talk about maps is in Room 102, not Room 101.", peer_id="c", at=START + HOUR
        )
    )
    ((old,),) = home.ask("memory", "SELECT id FROM facts WHERE text LIKE '%long talk%'")
    (new,) = outcome.rows(Fact)
    assert outcome.rows(FactSupersession) == [FactSupersession(old, new.id, START + HOUR)]


def test_where_the_correction_is_no_fact_the_event_ends_it() -> None:
    home = zone()
    outcome = home.read(says("Ada", "102, not Room 101.", peer_id="c", at=START + HOUR))
    assert outcome.rows(FactSupersession) == []
    outcome = home.read(says("Ada", "Room 102, not 101.", peer_id="c", at=START + 2 * HOUR))
    (end,) = outcome.rows(FactSupersession)
    facts = [fact.id for fact in outcome.rows(Fact)] or [outcome.event.id]
    assert end.superseded_by == facts[0]


def test_what_was_said_elsewhere_or_by_an_assistant_does_not_end() -> None:
    home = zone()
    home.given(
        says("Ada", "The talk is in Room 102, not Room 101.", peer_id="d", at=START + HOUR),
        says(
            "assistant",
            "The talk is in Room 103, not Room 101.",
            peer_id="c",
            direction="out",
            at=START + 2 * HOUR,
        ),
    )
    assert HELD in home.holding()


def test_what_was_said_later_is_not_corrected() -> None:
    home = zone()
    home.read(says("Ada", "The talk is in Room 102, not Room 101.", peer_id="c", at=START - HOUR))
    assert HELD in home.holding()


def agreed(before: str, asked: str, answer: str) -> list[str]:
    """Return what ends where Bob asks for something else than Ada said, and Ada answers."""
    home = Zone(RuleWriter()).given(
        says("Ada", before, id="told", peer_id="c"),
        says("Bob", asked, id="asked", at=START + HOUR, peer_id="c"),
        says("Ada", answer, id="answer", at=START + 2 * HOUR, peer_id="c"),
    )
    sql = "SELECT text FROM facts JOIN fact_supersessions ON fact_id = facts.id"
    return [text for (text,) in home.ask("memory", sql)]


INTERVIEW = "Your interview is on Tuesday 12 May."
FRIDAY = "Could I come on Friday 15 May instead of Tuesday?"


@pytest.mark.parametrize(
    ("before", "asked", "answer", "ended"),
    [
        (INTERVIEW, FRIDAY, "Of course, see you then.", "12 May"),
        (INTERVIEW, FRIDAY, "Hi Bob, sure. Friday 15 May it is, at reception.", "12 May"),
        ("The delivery comes on 4 June.", "Can we move the delivery to 8 June?", "Sure!", "4 June"),
        (
            "Dinner is at 19:00 on Saturday.",
            "Would it be possible to do dinner at 20:00 instead?",
            "Yes, 20:00 it is.",
            "19:00",
        ),
        ("The lesson is at 17:00.", "How about 18:00 instead of 17:00?", "Fine, 18:00.", "17:00"),
    ],
)
def test_who_agrees_to_another_time_takes_back_the_one_before(
    before: str, asked: str, answer: str, ended: str
) -> None:
    (found,) = agreed(before, asked, answer)
    assert ended in found


@pytest.mark.parametrize(
    ("before", "asked", "answer"),
    [
        (INTERVIEW, FRIDAY, "Let me check with the team."),
        (INTERVIEW, FRIDAY, "Sure, let me check."),
        (INTERVIEW, FRIDAY, "Yes, but only if Karl agrees."),
        (INTERVIEW, FRIDAY, "Unfortunately not."),
        (INTERVIEW, FRIDAY, "Fine with you if it is Monday?"),
        (INTERVIEW, "Could I bring my dog on Friday 15 May?", "Of course."),
        (INTERVIEW, "I would rather come on Friday 15 May instead.", "Ok, I see."),
        ("The lesson is at 17:00.", "Could we have tea at 18:00 instead of coffee?", "Yes."),
        ("The delivery comes on 4 June.", "Can we move the picnic to 8 June?", "Sure!"),
    ],
)
def test_who_agrees_to_something_else_takes_back_nothing(
    before: str, asked: str, answer: str
) -> None:
    assert agreed(before, asked, answer) == []


def test_who_asked_is_not_who_agrees() -> None:
    home = Zone(RuleWriter()).given(
        says("Ada", INTERVIEW, id="told", peer_id="c"),
        says("Bob", FRIDAY, id="asked", at=START + HOUR, peer_id="c"),
        says("Bob", "Yes, Friday would be perfect.", id="x", at=START + 2 * HOUR, peer_id="c"),
    )
    assert home.ask("memory", "SELECT 1 FROM fact_supersessions") == []
