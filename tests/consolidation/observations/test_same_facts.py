"""Which facts say the same: by words and values, with names as the entities that they stand for."""

from __future__ import annotations

import pytest

from recollect.streams.mental_models.page import PageFact
from recollect.streams.mental_models.same_facts import meanings

HOUR = 3_600_000


def about(text: str, speaker: str = "", **fields: object) -> PageFact:
    """Return a fact about Ada, whose id is E1; Eve's is E2."""
    made = PageFact("f", text, "Ada", speaker, 0, beside=(("E2", "Eve"),) if "Eve" in text else ())
    return made._replace(**fields)  # type: ignore[arg-type]


def shared(one: PageFact, other: PageFact) -> list[str]:
    keys = {each.key for each in meanings(other, "E1")}
    return [each.reason for each in meanings(one, "E1") if each.key in keys]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (about("Ada plays the cello."), about("Bob: Ada plays the cello.", "Bob")),
        (about("Ada plays the cello."), about("Ada plays a cello")),
        (about("Cem: Ada knows Eve well.", "Cem"), about("Bob: Ada knows Eve well!", "Bob")),
        (about("On Mondays Ada swims."), about("Bob: Ada swims on Mondays.", "Bob")),
        (
            about("Bob: Dr. Byron plays the cello.", "Bob", name="Dr. Byron"),
            about("Ada plays the cello."),
        ),
    ],
)
def test_the_same_words_of_any_speaker_say_the_same(one: PageFact, other: PageFact) -> None:
    assert shared(one, other) == ["the same words"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (about("Ada sits in Room 101."), about("Bob: Ada sits in Room 102.", "Bob")),
        (about("Ada owns 2 boats."), about("Bob: Ada owns 3 boats.", "Bob")),
        (about("Ada plays the cello."), about("Bob: Ada never plays the cello.", "Bob")),
        (about("Ada likes Eve."), about("Bob: Eve likes Ada.", "Bob")),
        (about("Ada knows Iran well."), about("Bob: Ada knows Tigran well.", "Bob")),
        (
            about("Ada knows Eve well."),
            about("Bob: Ada knows Eve well.", "Bob", beside=(("E3", "Eve"),)),
        ),
        (
            about("Ada won a prize.", days=("2026-05-01", "2026-05-01")),
            about("Bob: Ada won a prize.", "Bob", days=("2026-05-02", "2026-05-02")),
        ),
    ],
)
def test_F4_what_differs_in_a_name_or_number_is_another_fact(
    one: PageFact, other: PageFact
) -> None:
    assert shared(one, other) == []


@pytest.mark.parametrize(
    "text",
    [
        "Bob: Ada is my best friend.",
        "Bob: Ada knows you well.",
        "Bob: Ada likes it there.",
        "Bob: Does Ada play the cello?",
    ],
)
def test_what_depends_on_its_speaker_is_never_the_same(text: str) -> None:
    assert list(meanings(about(text, "Bob"), "E1")) == []


def test_the_same_value_in_other_words_says_the_same() -> None:
    lives = about("Ada lives in Lisbon.", attribute="home", value="Lisbon")
    home = about("Bob: Ada's home is Lisbon.", "Bob", attribute="home", value="lisbon")
    more = about("Bob: Ada lives in Lisbon with two cats.", "Bob", attribute="home", value="Lisbon")
    assert shared(lives, home) == ["the same value"]
    assert shared(lives, more) == []


def test_what_happened_once_is_not_timeless() -> None:
    (dated,) = meanings(about("Ada won a prize.", days=("2026-05-01", "2026-05-01")), "E1")
    (undated,) = meanings(about("Ada won a prize."), "E1")
    assert (dated.is_timeless, undated.is_timeless) == (True, False)
