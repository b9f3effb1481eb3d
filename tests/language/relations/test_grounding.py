"""What a model says of a message is believed only as a statement that stands alone."""

from __future__ import annotations

import msgspec
import pytest

from recollect.streams.language.relations.grounding import Said, fault
from recollect.text.dates.dates_in_text import date_references

STATEMENTS = [
    "Ada lives in Lisbon.",
    "Ada's sister Ann breeds alpacas.",
    "The deploy is on Fridays at Marlowe Labs.",
    "Bob gets hives from walnuts.",
    "Ada and Ben live in Turin.",
    "Nadia quit smoking in March.",
    "The spare key hangs behind the boiler.",
    "Dr. Okafor cannot work on Tuesdays.",
    "Two of the pumps leak.",
    "Room 102 belongs to the choir.",
    "Ben wants a window seat on every flight",
    "There are two keys to the cellar.",
    "Karl-Heinz drives the van to Ghent.",
    "Kelpie, the boat of Ada, leaks.",
]

NOTHING = [
    "Noted.",
    "The bus.",
    "Daniel.",
    "Morning folks!",
    "u up",
    "and solid is for optimism",
    "that last chord.",
    "Obrigado, gente.",
    "102, fine.",
    "Hello Melanie, Parveen is here about the flat.",
    "Ok Mel.",
    "Lunch order!",
    "Twelve, pork and fennel.",
    "He came, he looked, he left.",
    "She would do it very well.",
    "It was a pleasure.",
    "Dear parents, class is over.",
    "Beautiful and horrible.",
    "Is that...",
    "This rotates every Friday.",
    "🎉🎉🎉",
    "!!!",
    "so.",
    "Thanks, that helps.",
    "Yes, she was there.",
    "Welcome to Hana who takes over.",
    "BEST NEWS OF THE QUARTER!",
]


def _fault(sentence: str) -> str | None:
    said = Said(sentence, 1_780_000_000_000, 0, (), ())
    found = fault(sentence, sentence, said)
    return None if found is None else found[0]


@pytest.mark.parametrize("sentence", STATEMENTS)
def test_a_statement_is_believed_where_it_was_said(sentence: str) -> None:
    assert _fault(sentence) is None


@pytest.mark.parametrize("sentence", NOTHING)
def test_what_states_nothing_by_itself_is_refused(sentence: str) -> None:
    assert _fault(sentence) is not None


@pytest.mark.parametrize(
    ("day", "wrong"), [("Saturday", None), ("21 March", None), ("7 March", "date")]
)
def test_a_weekday_means_the_day_that_was_decided_for_it(day: str, wrong: str | None) -> None:
    monday = 1_772_445_600_000  # 2 March 2026
    text = "Ines likes Saturday."
    (saturday,) = date_references(text, at_ms=monday)
    dates = (msgspec.structs.replace(saturday, first="2026-03-21", last="2026-03-21"),)
    found = fault(f"Ines likes {day}.", text, Said(text, monday, 0, (), (), dates))
    assert (found and found[0]) == wrong
