"""Which messages take something back, and what of those before them."""

from __future__ import annotations

import pytest

from recollect.streams.language.relations.corrections import Earlier, corrected, find_corrections

#: 2026-03-04, a Wednesday, at noon in UTC.
AT = 1_772_625_600_000


def ends(words: str, *before: str, same: bool = True) -> list[tuple[str, list[str]]]:
    """Return (message, values) that end by a message; those before it are given nearest first."""
    earlier = [Earlier(text, AT - 3_600_000, 0, same) for text in before]
    found = []
    for correction in find_corrections(words, AT, 0):
        what = corrected(correction, earlier)
        if what is not None:
            text = before[what.distance]
            found.append((text[what.start : what.end], [value.text for value in what.values]))
    return found


@pytest.mark.parametrize(
    ("words", "before", "value"),
    [
        ("Correction! Room 12, not Room 11.", "The talk is in Room 11.", "Room 11"),
        ("Sorry, I meant the 14th, not the 12th.", "You can see it on the 12th.", "the 12th"),
        (
            "We are moving the picnic from 7 March to Sunday 8 March.",
            "The picnic is on Saturday 7 March!",
            "Saturday 7 March",
        ),
        ("The picnic is at 18:30 instead.", "The picnic starts at 18:00.", "18:00"),
        ("The drops are once a day, not twice.", "Give the drops twice a day.", "twice"),
        ("Rex is down to 13.5 kg.", "Rex weighs 14 kg.", "14 kg"),
        (
            "Swimming is on Thursdays from now on, no longer on Mondays.",
            "Swimming is on Mondays.",
            "Mondays",
        ),
    ],
)
def test_what_is_taken_back_ends(words: str, before: str, value: str) -> None:
    assert ends(words, "Hello there!", before) == [(before, [value])]


@pytest.mark.parametrize(
    ("words", "before"),
    [
        # No cue, another thing, the same value, a question, somebody else's words, no other value.
        ("The picnic is at 18:30.", "The picnic starts at 18:00."),
        ("The lunch is at 12:30 instead.", "The picnic starts at 18:00."),
        ("Not at 18:00, no.", "The picnic starts at 18:00."),
        ("The picnic is at 18:00 instead of Monday.", "The picnic starts at 18:00."),
        ("Could the picnic be at 18:30 instead?", "The picnic starts at 18:00."),
        ('Tom said: "the picnic is at 18:30 instead"', "The picnic starts at 18:00."),
        ("The picnic is in the park instead.", "The picnic starts at 18:00."),
        ("The picnic is in Room 7 instead.", "The picnic starts at 18:00."),
        ("The picnic is moved, still 18:30.", "The picnic starts at 18:00."),
        ("We move forward with the picnic at 18:30.", "The picnic starts at 18:00."),
        ("I am not sure about 18:30.", "The picnic starts at 18:00."),
        ("", ""),
    ],
)
def test_nothing_else_does(words: str, before: str) -> None:
    assert ends(words, before) == []


def test_of_a_message_only_the_sentence_with_the_value_ends() -> None:
    before = "The plumber comes on Friday 6 March. The rent is due on 1 July. I saw Tom yesterday."
    assert ends("The plumber will come on Monday 9 March instead.", before) == [
        ("The plumber comes on Friday 6 March.", ["Friday 6 March"])
    ]


def test_somebody_else_corrects_only_what_shares_more_than_a_word() -> None:
    assert ends("The picnic is at 18:30 instead.", "The picnic starts at 18:00.", same=False) == []
    assert ends(
        "The school picnic is at 18:30 instead.", "The school picnic starts at 18:00.", same=False
    )


def test_the_value_that_is_taken_back_finds_its_message() -> None:
    assert ends(
        "Correction: Room 12, not Room 11.",
        "The retro of the talk is in Room 9.",
        "The talk is in Room 11.",
    ) == [("The talk is in Room 11.", ["Room 11"])]
