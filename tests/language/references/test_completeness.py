"""No fact leaves open whom or what it is about; where that is sure, it is named."""

from __future__ import annotations

import pytest

from recollect.streams.language.references.person_antecedents import PrecedingMessage
from tests.language.stating import stated

AT = 1_778_248_560_000  # Friday 8 May 2026


def facts(text: str, *before: tuple[str, str]) -> list[str]:
    said = [PrecedingMessage(number, who, words) for number, (who, words) in enumerate(before, 1)]
    analysis = stated(text, speaker="Ada", at_ms=AT, before=said, salience=60)
    return [statement.text for statement in analysis.statements]


@pytest.mark.parametrize(
    "text",
    [
        "He weighs 12 kg now.",
        "Her antihistamine is in the left pocket.",
        "That works for her on Monday.",
        "It moved to Thursday.",
        "They will be ready next Friday.",
        "He'd have voted for it twice.",
        "I told him about the flat in Leeds.",
        "She starts on Monday in Room 12.",
        "His rabies booster is due in June.",
        "Peter takes her swimming on Monday.",
        "On Monday she bought a car for 300 euros.",
        "Yesterday she bought a car for 300 euros.",
    ],
)
def test_what_leaves_open_whom_it_is_about_is_no_fact(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "The vet says that he can see Rex on Monday.",
            "The vet says that he can see Rex on Monday (2026-05-11).",
        ),
        ("I sold the boat because it was leaking.", "Ada sold the boat because it was leaking."),
        ("They promoted me to head of design.", "They promoted Ada to head of design."),
        ("I hate it when people smoke indoors.", "Ada hates it when people smoke indoors."),
        ("This week I am in Bergen.", "This week (4-10 May 2026) Ada is in Bergen."),
    ],
)
def test_a_pronoun_that_the_sentence_explains_itself_takes_nothing_away(
    text: str, told: str
) -> None:
    assert [each.removeprefix("Ada: ") for each in facts(text)] == [told]


@pytest.mark.parametrize(
    ("before", "text", "told"),
    [
        (
            [("Bob", "How is your sister Ines?")],
            "She broke her leg on Monday.",
            "Ines broke her leg on Monday",
        ),
        (
            [("Ada", "My cousin is in trouble.")],
            "She lost her job in April.",
            "Ada's cousin lost her",
        ),
        (
            [("Bob", "Did you call Maria?")],
            "Yes, her number plate is KX 4471.",
            "Maria's number plate is KX 4471",
        ),
        (
            [("Bob", "Sure."), ("Bob", "Peter had an urgent matter in Turin.")],
            "He will come on Monday at eight.",
            "Peter will come on Monday",
        ),
    ],
)
def test_who_is_meant_is_taken_from_the_messages_before(
    before: list[tuple[str, str]], text: str, told: str
) -> None:
    (fact,) = facts(text, *before)
    assert told in fact
