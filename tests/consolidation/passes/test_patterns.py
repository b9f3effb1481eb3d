"""What facts show over time: the pure rules of the temporal pass."""

from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import combinations

import pytest

from recollect.streams.consolidation.word_cosine import word_cosine
from recollect.streams.mental_models.page import PageFact
from recollect.streams.mental_models.patterns import Pattern, patterns

DAY_MS = 86_400_000
#: A Tuesday.
FIRST = date(2026, 1, 6)


def fact(n: int, text: str, day: date | None = None, **fields: object) -> PageFact:
    """Return a fact said on day `n`, and about a day if one is given."""
    days = None if day is None else (day.isoformat(), day.isoformat())
    said_at = (FIRST - date(1970, 1, 1)).days * DAY_MS + n * DAY_MS
    made = PageFact(f"f{n:02}", text, "Ada", "", said_at, days)
    return made._replace(**fields)  # type: ignore[arg-type]


def found(facts: list[PageFact], today: str = "2026-02-01") -> dict[str, Pattern]:
    return {each.key: each for each in patterns(facts, "E1", today, {"E2"})}


def choir(*weeks: int, off: int = 0) -> list[PageFact]:
    days = [FIRST + timedelta(weeks=week) for week in weeks]
    days += [FIRST + timedelta(weeks=week, days=3) for week in range(off)]
    return [fact(n, f"Ada sang in the choir of hall {n}.", day) for n, day in enumerate(days)]


def test_stated_routines_are_listed_with_their_days() -> None:
    facts = [
        fact(0, "Ada runs every morning."),
        fact(1, "Ada has a call with the bank."),
        fact(2, "Ada swims on Tuesdays."),
    ]
    assert found(facts)["regular"].rendered.text == (
        "Ada – regular: runs every morning (said 6 Jan 2026); swims on Tuesdays (said 8 Jan 2026)."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Ada and others go a few times a week.",
        "Ada likes it every day.",
        "The monthly rent of Ada is high.",
        "Ada hopes to run every day.",
        "Ada can't swim every day.",
    ],
)
def test_what_names_no_habit_of_its_own_is_no_routine(text: str) -> None:
    assert found([fact(0, "Ada runs every morning."), fact(1, text)]) == {}


def test_one_routine_is_a_fact_and_no_pattern() -> None:
    assert found([fact(0, "Ada runs every morning.")]) == {}


def test_what_is_ahead_has_passed_when_its_day_comes() -> None:
    facts = [
        fact(0, "Ada flies to Lima.", date(2026, 2, 3)),
        fact(1, "Ada sees the dentist.", date(2026, 2, 5)),
        fact(2, "Ada went on a cruise.", date(2026, 2, 6)),
    ]
    assert "flies to Lima (3 Feb 2026); sees the dentist" in found(facts)["ahead"].rendered.text
    assert found(facts, "2026-02-03") == {}


def test_next_year_alone_is_nothing_ahead() -> None:
    year = ("2027-01-01", "2027-12-31")
    vague = [fact(n, f"Ada grows {n} kinds of tea next year.", days=year) for n in range(3)]
    assert found(vague) == {}


def test_a_cycle_needs_days_that_chance_does_not_explain() -> None:
    assert "cycle:choir" not in found(choir(0, 1, 2))
    assert "cycle:choir" not in found(choir(0, 1, 2, 3, off=4))
    label = found(choir(0, 1, 2, 3))["cycle:choir"].rendered.label
    assert label == "choir on Tuesdays (4 of 4 days)"


def test_a_cycle_says_its_exceptions() -> None:
    cycle = found(choir(0, 1, 2, 3, 4, 5, off=1), "2026-02-12")["cycle:choir"]
    assert cycle.rendered.label == "choir on Tuesdays (6 of 7 days; not 9 Jan 2026)"


def test_the_same_day_said_often_is_one_day() -> None:
    facts = [fact(n, f"Ada sang in the choir of hall {n}.", FIRST) for n in range(9)]
    assert "cycle:choir" not in found(facts)


def test_a_cycle_is_over_after_missed_weeks() -> None:
    assert "no longer" in found(choir(0, 1, 2, 3), "2026-03-01")["cycle:choir"].rendered.label


def diary(both: int, wine: int = 0, headache: int = 0, neither: int = 30) -> list[PageFact]:
    """Return facts about separate days, each of a message of its own; other days tell of horses."""
    texts = [
        *[("Ada drank wine.", "Ada had a headache.")] * both,
        *[("Ada drank wine.",)] * wine,
        *[("Ada had a headache.",)] * headache,
        *[("Ada rode a horse.",)] * neither,
    ]
    # The days of each kind are spread over the whole time, and over all days of the week.
    order = sorted(range(len(texts)), key=lambda place: place * 0.618 % 1)
    found: list[PageFact] = []
    for n, place in enumerate(order):
        for text in texts[place]:
            found.append(fact(len(found), text, FIRST + timedelta(days=n)))
    return found


def correlated(facts: list[PageFact]) -> list[str]:
    shown = found(facts, "2027-01-01")
    return [each.rendered.label for each in shown.values() if each.kind == "correlation"]


def fisher(both: int, wine: int, headache: int, neither: int) -> float:
    """The one-sided p-value, by drawing the days of headache in every possible way."""
    days = range(both + wine + headache + neither)
    with_wine = set(range(both + wine))
    draws = [with_wine.intersection(drawn) for drawn in combinations(days, both + headache)]
    return sum(len(each) >= both for each in draws) / len(draws)


def test_topics_of_the_same_days_are_a_correlation() -> None:
    (label,) = correlated(diary(both=6, wine=1))
    assert label == "headache and wine on the same day (6 days; only wine on 1)"
    shown = found(diary(both=6, wine=1), "2027-01-01")["correlation:headache:wine"].rendered
    assert shown.text.count("drank wine") == shown.text.count("had a headache") == 4
    assert len({item.fact_id for item in shown.items}) == 8


@pytest.mark.parametrize(
    ("both", "wine", "headache", "neither"),
    [(3, 0, 0, 14), (4, 0, 0, 9), (4, 0, 0, 12), (4, 1, 0, 12), (5, 1, 0, 11), (5, 1, 1, 11)],
)
def test_a_correlation_is_proven_as_enumeration_proves_it(
    both: int, wine: int, headache: int, neither: int
) -> None:
    facts = diary(both, wine, headache, neither)
    told = [each.days[0] for each in facts if each.days and "horse" not in each.text]
    days = {each.days[0] for each in facts if each.days}
    span = [day for day in days if min(told) <= day <= max(told)]
    outside = len(days) - len(span)
    # Three topics are three pairs: wine, headache, horse.
    proven = 3 * fisher(both, wine, headache, neither - outside) <= 0.01
    assert bool(correlated(facts)) == proven


def test_what_one_message_says_together_is_no_correlation() -> None:
    facts = diary(both=6)
    together = {each.days: each.said_at for each in facts}
    assert correlated([each._replace(said_at=together[each.days]) for each in facts]) == []
    joint = [
        fact(n, f"Ada had wine and a headache in hall {n}.", FIRST + timedelta(days=3 * n))
        for n in range(6)
    ]
    assert correlated([*joint, *diary(both=0)]) == []


def test_topics_of_one_period_are_no_correlation() -> None:
    holiday = diary(both=6, neither=0)
    before = [
        fact(60 + n, f"Ada rode a horse in hall {n}.", FIRST - timedelta(days=1 + n))
        for n in range(40)
    ]
    assert correlated([*holiday, *before]) == []


def test_what_two_share_is_told_once() -> None:
    texts = ("hiked in Oslo", "bought a boat", "opened a bar")
    facts = [
        fact(n, f"Ada and Bob {text}.", beside=(("E2", "Bob"),)) for n, text in enumerate(texts)
    ]
    shared = found(facts)["shared:E2"].rendered
    assert shared.text.startswith("Ada and Bob – together: ")
    assert [item.fact_id for item in shared.items] == ["f00", "f01", "f02"]
    assert patterns(facts, "E3", "2026-02-01", {"E2"}) == []
    assert patterns(facts, "E1", "2026-02-01", set()) == []
    assert "shared:E2" not in found([each._replace(said_at=0) for each in facts])


def test_what_two_share_is_told_only_if_it_is_clear() -> None:
    texts = ("hiked in Oslo", "bought a boat", "opened a bar", "painted it")
    facts = [
        fact(n, f"Ada and Bob {text}.", beside=(("E2", "Bob"),)) for n, text in enumerate(texts)
    ]
    shared = found(facts)["shared:E2"].rendered
    assert [item.fact_id for item in shared.items] == ["f00", "f01", "f02"]
    assert "shared:E2" not in found([*facts[:2], facts[3]])


def test_every_item_is_a_part_of_its_fact() -> None:
    facts = [*choir(0, 1, 2, 3), fact(7, "Ada runs every day."), fact(8, "Ada reads every night.")]
    facts += [each._replace(id=f"d{each.id}") for each in diary(both=6)]
    texts = {each.id: each.text for each in facts}
    for pattern in found(facts).values():
        for item in pattern.rendered.items:
            words = pattern.rendered.text[item.start : item.end].rsplit(" (", 1)[0]
            assert words in texts[item.fact_id]


def test_the_order_of_facts_does_not_matter() -> None:
    facts = [*choir(0, 1, 2, 3), fact(7, "Ada runs every day."), fact(8, "Ada reads every night.")]
    expected = found(facts)
    for seed in range(20):
        random.Random(seed).shuffle(facts)
        assert found(facts) == expected


def test_the_cosine_of_words_is_that_of_their_counts() -> None:
    assert word_cosine("pottery class, pottery", "pottery pottery class") == 1.0
    assert round(word_cosine("pottery class", "pottery fair"), 6) == 0.5
    assert word_cosine("pottery", "the") == 0.0


def weighed(n: int, text: str, speaker: str = "Ada") -> PageFact:
    return fact(n, f"{speaker}: {text}" if speaker else text, speaker=speaker)


def test_values_of_a_quantity_that_fall_are_listed_with_their_days() -> None:
    facts = [
        weighed(0, "Ada weighed themselves this morning (2026-01-06): 84 kg.", speaker=""),
        weighed(10, "Weight today (2026-01-16): 82.5 kg."),
        weighed(20, "81 kg! The scales are new."),
        weighed(30, "My weight is 79 kg now."),
        weighed(40, "77.5 kg, not bad."),
    ]
    assert found(facts)["series:weight:kg"].rendered.text == (
        "Ada – weight, falling: 84 kg (6 Jan 2026); 82.5 kg (16 Jan 2026); 81 kg (26 Jan 2026); "
        "79 kg (5 Feb 2026); 77.5 kg (15 Feb 2026)."
    )


def test_values_of_a_unit_may_rise() -> None:
    facts = [fact(n * 30, f"Ada's rent is {900 + 50 * n} euros a month.") for n in range(12)]
    text = found(facts)["series:rent:euro"].rendered.text
    assert text.startswith("Ada – rent, rising: 900 euros a month (6 Jan 2026); ")
    assert text.endswith("; 1450 euros a month (2 Dec 2026).")
    assert text.count("euros") == 8


@pytest.mark.parametrize(
    "texts",
    [
        ("My weight is 80 kg.", "My weight is 84 kg.", "My weight is 80 kg."),
        ("My weight is 80 kg.", "My weight is 79 kg.", "My weight was fine."),
        ("My weight is 80 kg.", "My weight is 79 kg.", "20 kg!"),
        ("My weight is 80 kg.", "My load is 79 kg.", "79.5 kg."),
        ("My son is 8.", "My son is 9.", "My son is 10."),
        ("The date is 3 May.", "The date is 4 May.", "The date is 5 May."),
        ("80 kg.", "79 kg.", "78 kg."),
        ("My rent is 1.200 euros.", "My rent is 1.300 euros.", "My rent is 900 euros."),
        ("My rent is €1.200.", "My rent is €1.300.", "My rent is €1.400."),
        ("My rent is 1 200 euros.", "My rent is 2 100 euros.", "My rent is 3 000 euros."),
        ("The class is at 7 today.", "The class is at 8 today.", "The class is at 9 today."),
        ("My class is back at 7.", "My class is only at 8.", "My class is at about 9."),
        ("My class is 7 PM.", "My class is 8 p.m.", "My class is 9 o'clock."),
    ],
)
def test_other_amounts_are_no_series(texts: tuple[str, ...]) -> None:
    assert found([weighed(10 * n, text) for n, text in enumerate(texts)]) == {}


@pytest.mark.parametrize("unit", ["%", " euros", " points"])
def test_an_amount_with_a_unit_is_no_time_of_day(unit: str) -> None:
    facts = [weighed(10 * n, f"My loan is at {7 + n}{unit}.") for n in range(3)]
    [only] = found(facts).values()
    assert f"loan, rising: 7{unit} (" in only.rendered.text


def test_a_number_with_decimals_that_are_no_thousands_is_a_value() -> None:
    numbers = ("0.125", "1.25", "1,200", "12000.5")
    facts = [weighed(10 * n, f"My dose is {number} mg.") for n, number in enumerate(numbers)]
    assert found(facts)["series:dose:mg"].rendered.text == (
        "Ada – dose, rising: 0.125 mg (6 Jan 2026); 1.25 mg (16 Jan 2026); "
        "1,200 mg (26 Jan 2026); 12000.5 mg (5 Feb 2026)."
    )


def test_the_values_of_others_are_no_series_of_the_entity() -> None:
    facts = [weighed(10 * n, f"My weight is {80 - n} kg.", speaker="Bob") for n in range(4)]
    assert found(facts) == {}
