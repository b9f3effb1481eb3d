"""In a play that a talk with an assistant began with nobody speaks of themselves."""

from __future__ import annotations

from recollect.schemas.events import Deletion
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import MINUTE, START, Zone, says

BEGAN = "Let's role-play: you are the receptionist of an eye clinic and I'm a customer."
LATER = "My name is Isaac Cohen and I moved to Orta in March."


def facts(began: str) -> list[str]:
    zone = Zone(RuleWriter()).given(
        says("Ada", began, id="began"),
        says("assistant", "What is your name?", at=START + MINUTE, id="asks", direction="out"),
        says("Ada", LATER, at=START + 2 * MINUTE, id="later"),
    )
    return zone.facts()


def test_what_is_said_in_a_play_with_an_assistant_is_no_fact() -> None:
    assert facts(BEGAN) == []


def test_what_is_said_after_another_beginning_is() -> None:
    assert any("Orta" in fact for fact in facts("I need new glasses."))


def test_a_play_among_people_silences_nobody() -> None:
    between = Zone(RuleWriter()).given(
        says("Ada", BEGAN, id="began"),
        says("Tom", "Welcome!", at=START + MINUTE, id="asks"),
        says("Ada", LATER, at=START + 2 * MINUTE, id="later"),
    )
    assert any("Orta" in fact for fact in between.facts())


def test_a_play_that_was_taken_back_silences_nobody() -> None:
    taken_back = Zone(RuleWriter()).given(
        says("Ada", BEGAN, id="began"),
        says("Ada", "", id="gone", at=START + 1, kind=Deletion, target="began"),
        says("assistant", "Where do you live?", at=START + MINUTE, id="asks", direction="out"),
        says("Ada", LATER, at=START + 2 * MINUTE, id="later"),
    )
    assert any("Orta" in fact for fact in taken_back.current_facts())
