"""What is told of somebody has no marks that only format it."""

from __future__ import annotations

import pytest

from recollect.streams.language.statements.plain_words import without_marks
from tests.language.stating import stated

AT = 1_778_248_560_000  # Friday 8 May 2026, 14:36 UTC


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I keep **two** dogs 'cause I love them.", "Ada keeps two dogs 'cause Ada loves them."),
        ("- I rent a garage in Ghent.", "Ada rents a garage in Ghent."),
        ("* I rent a garage in Ghent.", "Ada rents a garage in Ghent."),
        ("## I rent a garage in Ghent.", "Ada rents a garage in Ghent."),
        ("I moved the shop to `Ghent` in **March 2024**.", None),
        ("**Rent of my flat**: EUR 850 a month.", "Ada: Rent of my flat: EUR 850 a month."),
    ],
)
def test_given_formatted_words_when_told_then_only_the_words(said: str, told: str | None) -> None:
    statements = stated(said, speaker="Ada", at_ms=AT).statements
    assert statements
    for each in statements:
        assert not {"*", "`", "#"} & set(each.text), each.text
        assert said[each.start : each.end].strip()  # the span stays where it was said
    assert told is None or statements[0].text == told


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("*all* of it", "all of it"),
        ("**S**ituation: a flood", "Situation: a flood"),
        ("Rent:** 300", "Rent: 300"),
        ("the _whole_ house", "the whole house"),
        ("- > quoted", "quoted"),
        ("run `make check` first", "run make check first"),
    ],
)
def test_given_marks_when_taken_away_then_the_words_are_left(said: str, plain: str) -> None:
    assert without_marks(said) == plain


@pytest.mark.parametrize(
    "said",
    [
        "*Tuesday, not Monday",
        "2**3 is 8",
        "~~Room 101~~ Room 102",
        "4 * 5 * 6",
        "snake_case_name and my_file.txt",
        "a - b",
        "-5 degrees",
        "#recollect is the channel",
        "it's 5`",
    ],
)
def test_given_signs_that_mean_something_when_marks_go_then_they_stay(said: str) -> None:
    assert without_marks(said) == said
