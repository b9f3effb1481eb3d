"""What a message takes back of one before it in its conversation ends there (F7)."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import Fact, FactSupersession
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, HOUR, START, Zone, says

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


def test_what_another_said_elsewhere_or_an_assistant_does_not_end() -> None:
    home = zone()
    home.given(
        says("Bob", "The talk is in Room 102, not Room 101.", peer_id="d", at=START + HOUR),
        says(
            "assistant",
            "The talk is in Room 103, not Room 101.",
            peer_id="c",
            direction="out",
            at=START + 2 * HOUR,
        ),
    )
    assert HELD in home.current_facts()


def test_what_was_said_later_is_not_corrected() -> None:
    home = zone()
    home.read(says("Ada", "The talk is in Room 102, not Room 101.", peer_id="c", at=START - HOUR))
    assert HELD in home.current_facts()


def elsewhere(before: str, words: str, days: int = 3, platform: str = "chat") -> list[str]:
    """Return what ends where Ada says something in one conversation, and then in another."""
    home = Zone(RuleWriter()).given(
        says("Ada", before, id="told", peer_id="c"),
        says("Ada", words, id="now", at=START + days * DAY, peer_id="d", platform=platform),
    )
    sql = "SELECT text FROM facts JOIN fact_supersessions ON fact_id = facts.id"
    return [text for (text,) in home.ask("memory", sql)]


PICNIC = "The picnic of our street is on Saturday 16 May."


@pytest.mark.parametrize(
    ("before", "words", "ended"),
    [
        (PICNIC, "The picnic is on Sunday 17 May, not Saturday 16 May.", "16 May"),
        (PICNIC, "We moved the picnic from 16 May to 17 May.", "16 May"),
        ("The painter asks for 900 euros.", "The painter asks for 950 euros, not 900.", "900"),
        ("The rehearsal is in Room 4.", "The rehearsal is in Room 9 instead of Room 4.", "Room 4"),
        ("I'm moving out, the rent is too high.", "I live in Tartu now.", "moving out"),
        ("My sister Ruta is in hospital.", "Good news: Ruta is home.", "hospital"),
    ],
)
def test_the_same_person_may_take_back_what_was_said_elsewhere(
    before: str, words: str, ended: str
) -> None:
    (found,) = elsewhere(before, words)
    assert ended in found


@pytest.mark.parametrize(
    ("before", "words", "days", "platform"),
    [
        # Another thing, too long ago, another platform, nothing named that is taken back.
        (PICNIC, "The swap meet is on Sunday 17 May, not Saturday 16 May.", 3, "chat"),
        (PICNIC, "The picnic is on Sunday 17 May, not Saturday 16 May.", 30, "chat"),
        (PICNIC, "The picnic is on Sunday 17 May, not 16 May.", 3, "email"),
        (PICNIC, "The picnic is on Sunday 24 May instead.", 3, "chat"),
        (PICNIC, "Actually, 17 May.", 3, "chat"),
        ("The lesson is at 17:00.", "Dinner is at 18:00, not at 17:00.", 3, "chat"),
        ("I'm moving out, the rent is too high.", "I live in Tartu.", 3, "chat"),
        ("My sister Ruta is in hospital.", "Ruta is home.", 120, "chat"),
        ("I love our garden in Riga.", "I live in Tartu now, not in Riga.", 3, "chat"),
    ],
)
def test_what_was_said_elsewhere_of_something_else_goes_on(
    before: str, words: str, days: int, platform: str
) -> None:
    assert elsewhere(before, words, days, platform) == []


def test_each_sentence_that_told_a_state_ends() -> None:
    home = Zone(RuleWriter()).given(
        says("Ada", "My sister Ruta is in hospital.", id="a", peer_id="c"),
        says("Bob", "How is Ruta?", id="b", peer_id="c", at=START + HOUR),
        says("Ada", "Ruta is still in hospital in Riga.", id="d", peer_id="c", at=START + DAY),
        says("Ada", "Ruta is home!", id="e", peer_id="c", at=START + 2 * DAY),
    )
    assert [text for text in home.current_facts() if "hospital" in text] == []
    assert any("home" in text for text in home.current_facts())


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


@pytest.mark.parametrize(
    ("held", "over"),
    [
        ("I have a motorbike in the shed.", "I don't have the motorbike any more."),
        ("I have a motorbike in the shed.", "I sold the motorbike."),
        ("We rent a cabin in Alvik.", "We no longer rent the cabin."),
        ("I'm going to Crete with my parents.", "I'm not going to Crete after all, it's too hot."),
        ("We are driving to Crete in our camper.", "We're no longer driving to Crete."),
        ("I plan to swim the Alvik strait.", "I'm not swimming the strait any more."),
        ("I live in Alvik with my aunt.", "I'm no longer living in Alvik."),
        ("I've booked a cabin in Alvik for 3 May.", "I cancelled the cabin in Alvik."),
        ("We are driving to Crete in our camper.", "The Crete trip has been called off."),
        ("I'm flying to Crete with my parents.", "I'm not going to Crete after all."),
        ("I plan to swim the Alvik strait.", "I won't swim the Alvik strait."),
        ("We are going to paint the shed in June.", "We decided not to paint the shed."),
    ],
)
def test_what_is_over_ends_in_another_conversation_too(held: str, over: str) -> None:
    home = Zone(RuleWriter()).given(says("Ada", held, peer_id="c"), says("Bob", held, peer_id="c"))
    before = home.current_facts()
    home.read(says("Ada", over, peer_id="d", at=START + 30 * DAY))
    ended = set(before) - set(home.current_facts())
    assert len(ended) == 1
    assert "Ada" in ended.pop()


@pytest.mark.parametrize(
    ("held", "said"),
    [
        # Not the plan, but who lives there, what was, and what one does.
        ("My aunt is going grey in Crete.", "I'm not flying to Crete after all."),
        ("I swam the Alvik strait.", "I'm not swimming the Alvik strait after all."),
        ("I work at the Alvik bakery.", "I'm not working at the bakery after all today."),
        ("I'm going to Crete with my parents.", "I'm not going to Crete by car."),
        ("I've booked a cabin in Alvik for 3 May.", "I cancelled the cabin in Falun."),
        ("I've booked the vet for Rex.", "I've called off the vet for Ivy."),
        ("We are driving to Crete in our camper.", "The trip to Corfu has been called off."),
        ("I live in Crete with my parents.", "The Crete trip is cancelled."),
        ("I plan to swim the Alvik strait.", "The Alvik strait is not cancelled."),
    ],
)
def test_a_plan_or_booking_ends_no_other(held: str, said: str) -> None:
    home = Zone(RuleWriter()).given(says("Ada", held, peer_id="c"))
    before = home.current_facts()
    assert before
    home.read(says("Ada", said, peer_id="c", at=START + 2 * DAY))
    assert set(before) <= set(home.current_facts())


def test_a_contrast_is_a_matter_of_its_conversation() -> None:
    home = zone()
    home.read(says("Ada", "We meet in Room 102, not Room 101.", peer_id="d", at=START + HOUR))
    assert HELD in home.current_facts()


def test_what_several_planned_any_of_them_may_call_off() -> None:
    plans = [
        says("Ada", "We are planning a trip to Crete in August.", peer_id="c"),
        says("Bob", "I am planning a trip to Corfu in August.", peer_id="c"),
        says("Cem", "We are planning a trip to Crete in July.", peer_id="e"),
    ]
    home = Zone(RuleWriter()).given(*plans)
    before = home.current_facts()
    home.read(says("Bob", "We cancelled the Crete trip.", peer_id="c", at=START + 2 * DAY))
    home.read(says("Ada", "We cancelled the Corfu trip.", peer_id="c", at=START + 3 * DAY))
    (ended,) = set(before) - set(home.current_facts())
    assert "Ada" in ended
