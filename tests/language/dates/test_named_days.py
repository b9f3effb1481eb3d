"""A weekday in a name is no day; a weekday beside a name is one."""

from __future__ import annotations

import pytest

from recollect.text.dates.dates_in_text import date_references
from tests.language.dates.test_dates import at, resolve

FRIDAY = "2026-11-20T12:00"


@pytest.mark.parametrize(
    "text",
    [
        "We love Focus Friday.",
        "Focus Friday is a quiet day at Halden.",
        "I joined the Black Friday Sale team.",
        "We host Taco Tuesday at ours.",
        "i like taco tuesday",
        "Wear green on Wacky Wednesday.",
        "I wore it for Flannel Friday.",
        "I run our Speech Friday.",
        "I read every Film Friday there was.",
        "I lead the Monday Review with Anna.",
        "I run our Friday Club.",
        "Our Happy Monday Club meets.",
        "My band is called Sunday Morning Club.",
        "My parrot is named Friday.",
        'We sing for "The Sunday Choir" now.',
        "They want 'Black Friday Sale' ready.",
        "Casual Friday was fun.",
        "Bloody Sunday was long ago.",
        "Good Friday Mass is at the old church.",
    ],
)
def test_a_weekday_in_a_name_is_no_day(text: str) -> None:
    assert resolve(text, FRIDAY) == []
    assert date_references(text, at_ms=at(FRIDAY), every=True) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I see Tom Tuesday.", "2026-11-24"),
        ("I met Ana Friday.", "2026-11-13"),
        ("We are in Munich Monday.", "2026-11-23"),
        ("I call my Mum Sunday.", "2026-11-22"),
        ("Dentist Tuesday at 9", "2026-11-24"),
        ("Meeting Monday at ten", "2026-11-23"),
        ("Good, Sunday then.", "2026-11-22"),
        ("That's good. Monday it is.", "2026-11-23"),
        ("Ada said Monday is fine.", "2026-11-23"),
        ("On Sunday Mel signs the lease.", "2026-11-22"),
        ("By Sunday I will finish.", "2026-11-22"),
        ("'On Monday,' he said.", "2026-11-23"),
    ],
)
def test_a_weekday_beside_a_name_is_a_day(text: str, day: str) -> None:
    assert [first for _, first, _ in resolve(text, FRIDAY)] == [day]


@pytest.mark.parametrize(
    ("text", "phrase", "day"),
    [
        ("Good Friday is off.", "Good Friday", "2027-03-26"),
        ("See you on Good Friday", "Good Friday", "2027-03-26"),
        ("On Good Friday Anna leaves.", "Good Friday", "2027-03-26"),
        ("We eat fish on Ash Wednesday.", "Ash Wednesday", "2027-02-10"),
    ],
)
def test_a_holiday_stays_one(text: str, phrase: str, day: str) -> None:
    found = date_references(text, at_ms=at(FRIDAY), every=True)
    assert [(one.text, one.first) for one in found] == [(phrase, day)]
