"""Which part of a fact tells an event, a plan or a habit."""

from __future__ import annotations

import pytest

from recollect.streams.mental_models.event_words import (
    SPEAKER,
    event_words,
    habit_words,
    plan_words,
)

ADA = ("Ada", "Bob")
IN_MAY = ("2026-05-01", "2026-05-31")


@pytest.mark.parametrize(
    "text",
    [
        "Ada sold a red bicycle.",
        "Ada quit the council.",
        "Ada gave up coffee.",
        "Ada and others rented a cabin by the lake.",
        "Ada and Bob repaired the engine of a boat.",
        "Ada has been to Iceland.",
        "Ada has been restoring an old harp.",
        "Ada is working on a map of the harbour.",
        "Ada's brother opened a bakery in Turin.",
        "On Sunday evening, Ada baked a plum cake.",
        "Unfortunately, Ada lost the key of the cabin.",
        "A neighbour sold Ada a red bicycle.",
        "The Harbour Choir invited Ada to a concert.",
        "Bob sold Ada's bicycle.",
        "Ada re-opened the bakery.",
        "Ada has booked a cabin.",
        "Ada graduated.",
        "Ada and others hiked, swam, and sang.",
        "Ada married in Turin.",
    ],
)
def test_what_was_done_or_happened_is_an_event(text: str) -> None:
    assert event_words(text, ADA, None, False) == text


@pytest.mark.parametrize(
    "text",
    [
        "Ada is over the moon.",
        "Ada is really grateful for the harp.",
        "Ada felt calm at the harbour.",
        "Ada loved the harbour as a child.",
        "Ada wants to sail to Iceland.",
        "Ada can sail a dinghy.",
        "Ada should rent a cabin.",
        "Ada did not sell the bicycle.",
        "Ada hasn't sold the bicycle.",
        "Ada saw how the harbour changed.",
        "Ada made something for the garden.",
        "Ada's boss said yes to the plan.",
        "Ada sent to Bob.",
        "Ada has told Bob, whom she met at the harbour.",
        "Ada raised the rent of the cabin he's a crook.",
        "Ada rented a cabin, so if anyone is free.",
        "Ada painted it in the garden.",
        "Ada talked about these boats.",
        "Ada plays the harp.",
        "Ada signed, they start in May.",
        "Ada invited by the mayor.",
        "Ada appointed as a judge.",
        "Ada proceed as planned to the harbour.",
        "(To Bob) Ada sold the boat.",
        "Ada is starting, the holiday begins.",
        "Ada plans to row in the harbour.",
        "Ada designated driver to the airport.",
        "The bakery taught Ada a recipe.",
        "Painting boats made Ada's garden bright.",
        "It rained on Ada's garden.",
        "Carla sold a bicycle.",
        "Tickets for Ada's concert.",
        "Ada has limited space in the cabin.",
        "Ada was a bit nervous about the boat.",
        "Ada will open a bakery.",
        "Ada and others had a great time.",
        "Ada took a photo of it.",
        "The recipes Ada learned made a book.",
        "Did Ada sell the bicycle?",
        "My aunt sold Ada a bicycle.",
        "Ada sold you a bicycle.",
        "Ada finished lunch and am going home.",
    ],
)
def test_feelings_wishes_states_and_what_is_open_are_none(text: str) -> None:
    assert event_words(text, ADA, None, False) == ""


def test_what_is_due_counts_on_a_day_of_its_own() -> None:
    text = "Ada is hosting a flea market."
    assert event_words(text, ADA, IN_MAY, True) == text
    assert event_words(text, ADA, None, False) == ""
    assert event_words("Ada is happy about the flea market.", ADA, IN_MAY, True) == ""


def test_only_the_sentences_about_it_are_given() -> None:
    text = "So much happened! Ada joined a choir. It was great. Ada is happy."
    assert event_words(text, ADA, None, False) == "Ada joined a choir."
    both = "Ada bought a harp. Ada sold the boat."
    assert event_words(both, ADA, None, False) == both
    tail = "Ada is restoring a harp - looking for strings."
    assert event_words(tail, ADA, IN_MAY, True) == tail


def test_what_limits_or_takes_back_an_event_is_kept_or_ends_it() -> None:
    limited = "Ada rented a cabin - but only until May."
    assert event_words(limited, ADA, None, False) == limited
    assert event_words("Ada sold the boat. Bob laughed. Just kidding!", ADA, None, False) == ""


def test_a_long_text_is_no_line() -> None:
    text = "Ada sold " + ", ".join(f"bicycle {n}" for n in range(30)) + "."
    assert event_words(text, ADA, None, False) == ""


def test_the_speaker_is_named_by_i() -> None:
    text = "I sold a red bicycle."
    assert event_words(text, (SPEAKER,), None, False) == text
    assert event_words(text, ADA, None, False) == ""
    assert event_words("I love a red bicycle.", (SPEAKER,), None, False) == ""


@pytest.mark.parametrize(
    ("text", "is_plan"),
    [
        ("Ada flies to Rome.", True),
        ("Ada is moving to Rome.", True),
        ("Ada will open a bakery.", True),
        ("Ada would help, but is away.", False),
        ("Ada must see a dentist.", False),
        ("Ada wants to see Rome.", False),
        ("Ada has changed the contract.", False),
        ("Ada saw the cabin.", False),
        ("Ada flies to Rome. Or maybe not.", False),
    ],
)
def test_a_plan_is_what_somebody_does_then(text: str, is_plan: bool) -> None:
    assert bool(plan_words(text, ADA, IN_MAY)) == is_plan


@pytest.mark.parametrize(
    ("text", "is_habit"),
    [
        ("Ada swims every morning.", True),
        ("Ada is swimming every morning.", True),
        ("Every Sunday, Ada plays chess.", True),
        ("Ada is thrilled about swimming every day.", False),
        ("Ada doesn't swim every day.", False),
        ("Ada can swim every day.", False),
        ("Ada swam every day.", False),
        ("Clean the filters of Ada's pond every week.", False),
    ],
)
def test_a_habit_is_what_somebody_does_in_general(text: str, is_habit: bool) -> None:
    assert bool(habit_words(text, ADA)) == is_habit


def test_what_somebody_is_going_to_be_is_a_plan_only_if_it_is_something() -> None:
    assert plan_words("Ada is going to be four.", ADA, IN_MAY) == ""
    told = "Ada is going to be a mother."
    assert plan_words(told, ADA, IN_MAY) == told
