"""A fact names its speaker as other people would write it, and only once."""

from __future__ import annotations

import pytest

from tests.language.stating import stated


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I'm Ines, the new baker.", ["Ines Novak is the new baker."]),
        ("I am Ines Novak from Graz.", ["Ines Novak is from Graz."]),
        ("Hi all, I'm Ines, the new baker.", ["Ines Novak is the new baker."]),
        ("My name is Ines and I live in Graz.", ["Ines Novak lives in Graz."]),
        (
            "I'm Ines, the new baker, and I live in Graz.",
            ["Ines Novak is the new baker.", "Ines Novak lives in Graz."],
        ),
        ("I'm Ines.", []),
        ("I'm ines, the new baker.", ["Ines Novak is the new baker."]),
        ("I'm Ines, this is my bakery.", ["This is Ines Novak's bakery."]),
        # Another name is told.
        ("I'm Lena, the new baker.", ["Ines Novak is Lena, the new baker."]),
    ],
)
def test_a_fact_does_not_say_that_somebody_is_called_by_their_name(
    text: str, facts: list[str]
) -> None:
    assert [each.text for each in stated(text, speaker="Ines Novak").statements] == facts


@pytest.mark.parametrize(
    ("speaker", "text", "fact"),
    [
        ("ines novak", "The van is my problem.", "The van is Ines Novak's problem."),
        (
            "marie de vries",
            "The van is my problem.",
            "The van is Marie de Vries's problem.",
        ),
        ("happy", "I'm happy in Graz.", "Happy is happy in Graz."),
        ("ines_99", "The van is my problem.", "The van is ines_99's problem."),
    ],
)
def test_a_name_in_lower_case_is_told_with_capitals(speaker: str, text: str, fact: str) -> None:
    assert [each.text for each in stated(text, speaker=speaker).statements] == [fact]
