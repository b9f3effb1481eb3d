"""A newer value takes the place of an older one, of people and things alike (C9, F7)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, MINUTE, START, Zone, says

CITIES = ("Rome", "Oslo", "Turin", "Lima", "Porto", "Kyoto")
SAID = {
    "home": "I live in {}.",
    "town": "Bob Stone's town is {}.",
    "operation": "Kelp's clinic is {}.",
}


@given(
    slot=st.sampled_from(sorted(SAID)),
    told=st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(CITIES)),
        min_size=1,
        max_size=7,
        unique_by=lambda item: item[0],
    ),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_whatever_order_they_come_in_the_value_said_last_is_current(
    slot: str, told: list[tuple[int, str]], order: object
) -> None:
    arriving = list(told)
    order.shuffle(arriving)  # type: ignore[attr-defined]
    zone = Zone(RuleWriter())
    for place, (day, city) in enumerate(arriving):
        words = SAID[slot].format(city)
        zone.read(says("Ada", words, at=START + 2 * day * DAY, id=f"m{place}"))
    last = max(told)[1]
    assert {text.split()[-1] for text in zone.current_facts()} == {f"{last}."}
    # A value that comes back is another fact, one that is said again is not.
    values = [city for _, city in sorted(told)]
    runs = sum(before != value for before, value in zip([None, *values], values, strict=False))
    assert len(set(values)) <= len(zone.facts()) <= runs


def test_similar_slots_stay_apart() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "The head of state of Oz is Ana Prado."),
        says("Ada", "The head of government of Oz is Rui Leal.", at=START + MINUTE),
        says("Ada", "The head of state of Chad is Joe Hill.", at=START + 2 * MINUTE),
    )
    assert len(zone.current_facts()) == 3


def test_what_others_say_of_somebody_fills_the_slot_of_their_own_words() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "My dentist is Dr. Brandt."),
        says("Bob", "Ada's dentist is Dr. Okoro.", at=START + DAY),
    )
    assert zone.current_facts() == ["Bob: Ada's dentist is Dr. Okoro."]
    zone.given(says("Ada", "My dentist is Dr. Brandt.", at=START + 3 * DAY, id="back"))
    assert zone.current_facts() == ["Ada's dentist is Dr. Brandt."]


def test_my_dentist_is_not_yours() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "My dentist is Dr. Brandt."),
        says("Bob", "My dentist is Dr. Okoro.", at=START + DAY),
    )
    assert len(zone.current_facts()) == 2


def test_what_somebody_likes_ends_nothing_they_like() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "Bob Stone likes green tea."),
        says("Ada", "Bob Stone likes black coffee.", at=START + DAY),
    )
    assert len(zone.current_facts()) == 2


@given(
    told=st.lists(
        st.tuples(st.integers(0, 60), st.sampled_from(("I love opera.", "I don't like opera."))),
        min_size=2,
        max_size=6,
        unique_by=lambda item: item[0],
    ),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=40, deadline=None)
def test_what_was_said_last_of_a_taste_is_so_whatever_order_it_comes_in(
    told: list[tuple[int, str]], order: object
) -> None:
    arriving = list(told)
    order.shuffle(arriving)  # type: ignore[attr-defined]
    zone = Zone(RuleWriter()).given(says("Ada", "I love jazz.", at=START - DAY, id="jazz"))
    for place, (day, words) in enumerate(arriving):
        zone.read(says("Ada", words, at=START + 2 * day * DAY, id=f"m{place}"))
    likes = max(told)[1] == "I love opera."
    opera = "Ada loves opera." if likes else "Ada doesn't like opera."
    assert set(zone.current_facts()) == {"Ada loves jazz.", opera}


def test_a_newer_home_leaves_the_work_of_the_same_sentence() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "I live in Turin and work as a nurse.", id="m1"),
        says("Ada", "I live in Oslo now.", at=START + 3 * DAY, id="m2"),
    )
    assert zone.current_facts() == ["Ada works as a nurse.", "Ada lives in Oslo now."]


def test_several_claims_of_a_sentence_are_no_repeats_of_each_other() -> None:
    words = "I live in Turin and work as a nurse."
    zone = Zone(RuleWriter()).given(says("Ada", words, id="m1"))
    first = zone.facts()
    assert len(first) == 2
    zone.given(says("Ada", words, at=START + MINUTE, id="m2"))
    assert zone.facts() == first
    repeats = zone.ask("memory", "SELECT event_id FROM fact_occasions")
    assert len(repeats) == len(first)


def test_what_is_claimed_of_a_sister_is_hers() -> None:
    zone = Zone(RuleWriter()).given(
        says("Ada", "My sister Ana works at Siemens and lives in Bonn.")
    )
    sql = "SELECT subject, attribute, value FROM fact_claims ORDER BY attribute"
    claims = zone.ask("memory", sql)
    names = dict(zone.ask("identity", "SELECT id, name FROM entities"))
    assert [(names[whose], which, value) for whose, which, value in claims] == [
        ("Ana", "employer", "Siemens"), ("Ada", "family", "sister Ana"), ("Ana", "home", "Bonn"),
    ]  # fmt: skip
