"""Only texts that are complete and understood alone are told of somebody."""

from __future__ import annotations

import pytest

from recollect.streams.consolidation.clear_texts import is_clear
from recollect.streams.consolidation.told_values import is_named, is_told_of


@pytest.mark.parametrize(
    "text",
    [
        "Ada repaired the engine of a fishing boat.",
        "After the storm, Ada sold the boat to Bob.",
        "Ada's sister brought her boat to Ada.",
        "Last Monday (2026-01-05) was cold in the cabin.",
        "Yesterday, Ada sold a red bicycle.",
        "Ada rented a boat, and it sank in May.",
        "Ada moved in with Ada's cousin, Bob.",
    ],
)
def test_a_complete_sentence_is_clear(text: str) -> None:
    assert is_clear(text, "Ada", "")


@pytest.mark.parametrize(
    "text",
    [
        # Said to somebody else.
        "Aunt Rosa, Ada went to the harbour.",
        "Bob, Ada will bring the bread.",
        "AI, Ada is a baker.",
        "Ada baked the bread, Bob.",
        # A part of a sentence.
        "which keeps Ada calm in the morning.",
        "Anything that isn't in the boat of Ada.",
        "not the brother of Ada, the other one, who sailed to Oslo.",
        # A thing, or a person, that only other words name.
        "A friend made it for Ada.",
        "Ada painted this boat in May.",
        "Ada is planning a few.",
        "Ada heard that his leg is better.",
        "Ada will ask the harbour for one later.",
        "Ada can manage the other two.",
        # Not finished, or a request.
        "The regatta of Ada was last night (2026-03-20)",
        "Ada needs a list of boats, please.",
        # Whose subject is not named, or named twice.
        "Had lunch with Ada in the harbour.",
        "Ada is starting today, Ada will row in the morning.",
        # About the conversation.
        "Ada follows the steps of the assistant on the boat.",
        # Entries of lists and logs.
        "2. Ada repairs the boat.",
        "Execute the plan of Ada for the harbour.",
        "Ada is Ada, a sailor.",
    ],
)
def test_what_needs_the_words_around_it_is_not_clear(text: str) -> None:
    assert not is_clear(text, "Ada", "")


@pytest.mark.parametrize(
    ("text", "clear"),
    [
        ("I sold the boat to a farmer.", True),
        ("My brother and I sold the boat.", True),
        ("The ferry sank near the harbour.", True),
        ("Follow-up is needed for the boat.", False),
        ("The fee for the boat will be paid later.", False),
        ("2026-01-05 Repaired the boat for the first time.", False),
        ("Take my brother to the harbour in the morning.", False),
        ("Really made me think about boats.", False),
        ("Vet for the horse (2026-01-20 09:00:00 to 2026-01-20 10:30:00)", False),
        ("Ada is busy in the harbour and I know.", False),
    ],
)
def test_quoted_words_state_something_of_their_speaker(text: str, clear: bool) -> None:
    assert is_clear(text, "Ada", "Ada") is clear


@pytest.mark.parametrize(
    ("value", "text", "speaker", "attribute", "told"),
    [
        ("nine", "Ada is nine.", "", "age", True),
        ("nine", "ada is nine.", "", "age", False),
        ("nine", "Ada's son is nine.", "", "age", False),
        ("nine", "Ada: My son is nine.", "Ada", "age", False),
        ("nine", "Ada and others are nine.", "", "age", False),
        ("flu", "Ada has the flu.", "", "health", True),
        ("flu", "Ada: I have the flu.", "Ada", "health", True),
        ("flu", "Ada: Surgeon has the flu!", "Ada", "health", False),
        ("insulin", "On insulin, so Ada called the doctor.", "", "health", False),
        ("asthma", "The clinic saw Ada and Bob. It is asthma.", "", "health", False),
        ("dinghy", "Ada's boat is a dinghy.", "", "possession", True),
        ("runs on diesel", "Ada's boat runs on diesel.", "", "activity", False),
        ("tea", "Tea is Ada's favourite.", "", "likes", True),
        ("dog Rex", "Ada walks Bob's old dog Rex.", "", "pet", False),
        ("dog Rex", "Ada walks Ada's old dog Rex.", "", "pet", True),
        ("Bob", "Bob, Ada's husband, sails.", "", "partner", True),
        ("Bob", "Ada's husband is Bob.", "", "partner", True),
        ("Bob", "At the harbour, Ada met Bob.", "", "partner", False),
    ],
)
def test_a_value_is_told_of_its_owner(
    value: str, text: str, speaker: str, attribute: str, told: bool
) -> None:
    assert is_told_of(value, text, "Ada", speaker, attribute) is told


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("sailing", True),
        ("chess club", True),
        ("bought the red boat", False),
        ("update their boat", False),
        ("review and sell the boats", False),
        ("search frequently", False),
        ("feel so tired", False),
        ("eats fish", False),
        ("*old* boats", False),
    ],
)
def test_what_is_done_is_no_name_of_an_activity(value: str, named: bool) -> None:
    assert is_named(value, "activity") is named
