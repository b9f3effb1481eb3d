"""The days of what happens once, where the statement names none."""

from __future__ import annotations

import pytest

from recollect.streams.language.grammar.text_reading import ReadSentence, ReadWord, TextReading
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

Days = tuple[str, str] | None

WEDNESDAY = 1_715_169_600_000  # 2024-05-08T12:00:00Z


def days(
    text: str,
    *,
    occurs: int = 90,
    at: int = WEDNESDAY,
    offset: int = 0,
    tag: str = "VBD",
    last_occurs: int | None = None,
) -> list[Days]:
    """Return what `happens` says of each statement; every word is salient and has this tag.

    `occurs` is that of every sentence, `last_occurs` that of the last one if it is another.
    """
    spans = sentences(text)
    chances = [occurs] * len(spans)
    chances[-1] = occurs if last_occurs is None else last_occurs
    tokens = tokenise(text)
    words = zip(tokens.starts, tokens.ends, strict=True)
    reading = TextReading(
        tuple(ReadWord(start, end, tag, 90) for start, end in words),
        (),
        tuple(
            ReadSentence(start, end, "statement", 100, (), chance)
            for (start, end), chance in zip(spans, chances, strict=True)
        ),
    )
    document = Document(
        text=text, speaker="Ada", at_ms=at, utc_offset_minutes=offset, reading=reading
    )
    return [each.happens for each in analyse(document).statements]


def test_what_happens_once_is_of_the_day_of_the_message() -> None:
    assert days("I signed the lease for the studio.") == [("2024-05-08", "2024-05-08")]


def test_the_day_is_that_of_the_sender() -> None:
    late = WEDNESDAY + 11 * 3_600_000
    assert days("I signed the lease for the studio.", at=late, offset=120) == [
        ("2024-05-09", "2024-05-09")
    ]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("I rent a studio in Ghent until Friday.", "2024-05-08", "2024-05-10"),
        ("I rent a studio in Ghent since February.", "2024-02-01", "2024-05-08"),
        ("I rent a studio in Ghent until the end of May.", "2024-05-08", "2024-05-31"),
        ("I rent a studio in Ghent until about the 20th.", "2024-05-08", "2024-05-20"),
        ("I rent a studio in Ghent from June.", "2024-06-01", "2024-06-01"),
    ],
)
def test_a_period_with_one_end_begins_or_ends_with_the_message(
    text: str, first: str, last: str
) -> None:
    assert days(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "I rent a studio in Ghent from 3 to 9 June.",
        "I rent a studio in Ghent in June.",
        "I stayed in Ghent since Monday was a holiday.",
        "I keep photos from 2019 in Ghent.",
        "The fair opens on 3 June and runs until 9 June.",
    ],
)
def test_days_that_are_named_are_those_of_the_statement(text: str) -> None:
    assert days(text) == [None]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("In June I show the kiln in Ghent on 6 June 2024.", ("2024-06-06", "2024-06-06")),
        ("I show the kiln on 14 May 2024, so next week is full.", ("2024-05-14", "2024-05-14")),
        ("I show the kiln from 1 to 9 June, with a party on 6 June 2024.", None),
    ],
)
def test_the_narrower_of_two_dates_counts(text: str, found: Days) -> None:
    assert days(text) == [found]


def test_what_lasts_has_no_days() -> None:
    assert days("I rent a studio in Ghent.", occurs=20) == [None]


def test_it_is_of_the_day_that_the_paragraph_named_last() -> None:
    assert days("I met the landlord yesterday. I signed the lease for the studio.") == [
        None,
        ("2024-05-07", "2024-05-07"),
    ]


def test_a_date_of_another_paragraph_does_not_count() -> None:
    found = days("I met the landlord yesterday.\n\nI signed the lease for the studio.")
    assert found[-1] == ("2024-05-08", "2024-05-08")


@pytest.mark.parametrize(("tag", "day"), [("VBD", "2024-05-08"), ("VBP", "2024-05-09")])
def test_what_is_past_is_not_of_a_day_to_come(tag: str, day: str) -> None:
    found = days("I meet the landlord tomorrow. I bring the lease for the studio.", tag=tag)
    assert found[-1] == (day, day)


@pytest.mark.parametrize("often", ["every spring", "on Saturdays", "weekly"])
def test_what_recurs_has_no_days(often: str) -> None:
    assert days(f"We prune the vines {often}.") == [None]


def test_a_statement_is_of_the_day_of_what_it_tells_again() -> None:
    text = "I repaired the boiler with Tom. It was the oldest one in Ghent."
    assert days(text, last_occurs=0) == [("2024-05-08", "2024-05-08")]


@pytest.mark.parametrize("year", [-4_000, 20_000])
def test_a_message_of_an_impossible_year_has_a_day(year: int) -> None:
    """The day is cut to the years that a date can have."""
    (found,) = days("I signed the lease for the studio.", at=year * 31_556_952_000)
    assert found is not None
    assert found[0] == found[1]
