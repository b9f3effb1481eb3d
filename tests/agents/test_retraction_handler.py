"""What a retraction covers, whoever writes from the same words, and what restoring gives back."""

from __future__ import annotations

import pytest

from recollect.schemas.changes import Fact
from recollect.schemas.events import (
    Deletion,
    Draft,
    Edit,
    ModelAnswered,
    Remember,
    Retract,
    StatedAt,
)
from recollect.streams.agents import BY_NAME
from recollect.streams.agents.writer.retracted_statements import retracted_statement, stated_span
from tests.agents.kit import DAY, START, Zone, command, ends_turn, says

THREE = "I live in Turin. My favourite tea is oolong. I am allergic to peanuts."


@pytest.fixture
def zone() -> Zone:
    return Zone(*BY_NAME.values())


def retracts(zone: Zone, text: str, *, restore: bool = False, at: int = START + DAY) -> Draft:
    """Return the command that takes back the fact with this text."""
    ((target, event),) = zone.ask(
        "memory", "SELECT id, source_event_id FROM facts WHERE text = ?", text
    )
    ((number, words),) = zone.ask(
        "events", "SELECT number, content FROM events WHERE id = ?", event
    )
    stated_at = () if restore else (StatedAt(number, *stated_span(words, text, ("ada", "Ada"))),)
    source = f"{text} {restore} {at}"
    return command(
        Retract(source_id=source, target=target, stated_at=stated_at, restore=restore), at=at
    )


def model_says(zone: Zone, number: int) -> Draft:
    """Return a model's answer that repeats a message as a fact."""
    return command(
        ModelAnswered(
            source_id=f"w{number} {len(zone.events)}",
            about=number,
            answers=(),
            thread=(),
            sources=(number,),
            model="m",
            role="r",
        )
    )


def test_the_other_facts_of_the_message_stay(zone: Zone) -> None:
    zone.read(says("Ada", THREE))
    zone.read(retracts(zone, "Ada lives in Turin."))
    assert sorted(zone.current_facts()) == [
        "Ada is allergic to peanuts.",
        "Ada's favourite tea is oolong.",
    ]
    zone.read(retracts(zone, "Ada lives in Turin.", restore=True, at=START + 2 * DAY))
    assert len(zone.current_facts()) == 3


def test_what_the_retracted_fact_superseded_is_current_again(zone: Zone) -> None:
    zone.read(says("Ada", "I live in Turin."))
    zone.read(says("Ada", "I live in Lyon.", at=START + DAY))
    zone.read(says("Ada", "I live in Oslo.", at=START + 2 * DAY))
    zone.read(retracts(zone, "Ada lives in Oslo.", at=START + 3 * DAY))
    assert zone.current_facts() == ["Ada lives in Lyon."]
    zone.read(retracts(zone, "Ada lives in Lyon.", at=START + 4 * DAY))
    assert zone.current_facts() == ["Ada lives in Turin."]
    zone.read(retracts(zone, "Ada lives in Oslo.", restore=True, at=START + 5 * DAY))
    assert zone.current_facts() == ["Ada lives in Oslo."]


def test_a_new_message_that_says_it_is_news(zone: Zone) -> None:
    zone.read(says("Ada", "I live in Turin."))
    zone.read(says("Ada", "I live in Lyon.", at=START + DAY))
    zone.read(retracts(zone, "Ada lives in Lyon.", at=START + DAY + 1))
    zone.read(says("Ada", "I live in Lyon.", id="again", at=START + DAY + 2))
    assert zone.current_facts() == ["Ada lives in Lyon."]


def test_an_edit_of_the_message_does_not_bring_it_back(zone: Zone) -> None:
    zone.read(says("Ada", "I live in Turin. I like green tea.", id="m"))
    zone.read(retracts(zone, "Ada lives in Turin."))
    edited = says(
        "Ada", "I live in Turin. I like black tea.", id="e", kind=Edit, target="m", at=START + DAY
    )
    zone.read(edited)
    assert zone.current_facts() == ["Ada likes black tea."]


@pytest.mark.parametrize("after", [True, False])
def test_another_writer_does_not_bring_it_back(zone: Zone, after: bool) -> None:
    """Before or after the command, a model says the same words of the same message."""
    words = "The kiln fires on Fridays at Marlowe Labs."
    first = zone.read(says("Sam", words)).event
    if not after:
        zone.read(model_says(zone, first.number))
    target = next(iter(zone.ask("memory", "SELECT id FROM facts")), (first.id,))[0]
    at = (StatedAt(first.number, 0, len(words)),)
    zone.read(command(Retract(source_id="a", target=target, stated_at=at), at=START + DAY))
    if after:
        zone.read(model_says(zone, first.number))
    assert zone.facts()
    assert zone.current_facts() == []
    zone.read(command(Retract(source_id="b", target=target, restore=True), at=START + DAY + 1))
    assert zone.current_facts() == zone.facts()


def test_a_fact_that_this_writer_never_made_is_found_by_its_words(zone: Zone) -> None:
    """The command names a fact of another writer's generation."""
    event = zone.read(says("Ada", THREE)).event
    start, end = stated_span(THREE, "She is allergic to peanuts.", ())
    at = (StatedAt(event.number, start, end),)
    zone.read(command(Retract(source_id="a", target="A" * 26, stated_at=at)))
    assert sorted(zone.current_facts()) == ["Ada lives in Turin.", "Ada's favourite tea is oolong."]


def test_messages_of_a_turn_are_covered_when_it_ends(zone: Zone) -> None:
    event = zone.read(says("Eve", "I moved to Oslo.", turn_id="t")).event
    at = (StatedAt(event.number, 0, 16),)
    zone.read(command(Retract(source_id="a", target=event.id, stated_at=at)))
    zone.read(ends_turn("t", at=START + DAY))
    assert zone.facts() == ["Eve moved to Oslo."]
    assert zone.current_facts() == []


def test_a_deleted_message_stays_ended_when_restored(zone: Zone) -> None:
    zone.read(says("Ada", "I live in Turin.", id="m"))
    zone.read(retracts(zone, "Ada lives in Turin."))
    zone.read(says("Ada", "", kind=Deletion, target="m", at=START + DAY))
    zone.read(retracts(zone, "Ada lives in Turin.", restore=True, at=START + 2 * DAY))
    assert zone.current_facts() == []


def test_a_replaced_fact_ends_when_it_was_replaced(zone: Zone) -> None:
    first = zone.read(says("Ada", "I live in Turin.")).event
    (fact,) = zone.ask("memory", "SELECT id FROM facts")[0]
    newer = zone.read(
        Draft(
            platform="recollect",
            occurred_at=START + DAY,
            payload=Remember(source_id="r", sender_id="ada", content="Ada has a flat in Turin."),
        )
    )
    (made,) = newer.rows(Fact)
    zone.read(
        command(
            Retract(
                source_id="a",
                target=fact,
                stated_at=(StatedAt(first.number, 0, 16),),
                replaced_by=newer.event.id,
            ),
            at=START + DAY,
        )
    )
    sql = "SELECT superseded_by, invalid_at FROM fact_ends WHERE fact_id = ?"
    assert zone.ask("memory", sql, fact) == [(made.id, START + DAY)]


def test_retracting_what_is_not_there_or_comes_later_changes_nothing(zone: Zone) -> None:
    zone.read(says("Ada", THREE))
    before = zone.current_facts()
    at = (StatedAt(99, 0, 5), StatedAt(0, -3, 2), StatedAt(2, 0, 9))
    zone.read(command(Retract(source_id="a", target="nobody", stated_at=at)))
    zone.read(command(Retract(source_id="b", target="nobody", restore=True)))
    assert zone.current_facts() == before


@pytest.mark.parametrize(
    ("text", "fact", "span"),
    [
        (THREE, "Ada lives in Turin.", "live in Turin"),
        (THREE, "Ada is allergic to peanuts.", "allergic to peanuts"),
        ("Nuts! Ada: no nuts, I am allergic.", "Ada is allergic to nuts.", "nuts, I am allergic"),
        ("Yes.", "Ada lives in Turin.", "Yes."),
        ("", "Ada lives in Turin.", ""),
    ],
)
def test_the_shortest_span_with_the_words_of_a_fact(text: str, fact: str, span: str) -> None:
    start, end = stated_span(text, fact, ("ada", "Ada"))
    assert text[start:end] == span


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("Ada is allergic to peanuts.", True),
        ("Ada has an allergy to peanuts.", True),
        ("Ada is allergic to cashews.", False),
        ("Ada lives in Turin.", False),
        ("Ada is allergic to peanuts and lives in Turin.", False),
    ],
)
def test_only_facts_that_say_nothing_else_are_covered(fact: str, said: bool) -> None:
    text = "Ada here. I live in Turin. I am allergic to peanuts and to cashews."
    start, end = stated_span(text, "Ada is allergic to peanuts.", ["ada", "Ada"])
    assert retracted_statement(text, start, end, ["ada", "Ada"]).is_said_by(fact) is said
