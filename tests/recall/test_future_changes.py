"""A change that is announced for a later day begins on that day; until then the old holds (F7)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect import Recollect, Zone
from recollect.streams.encoder.catalog import MINILM
from tests.text_messages import text_message

#: What is said in June, and in October of the same year. The first day of the change follows, and
#: a word of the old fact.
CHANGES = {
    "a start": ("I work at Initech", "I start at Globex on 3 February", "2088-02-03", "Initech"),
    "from a month on": (
        "I work for Philips",
        "From March I work for Contoso",
        "2088-03-01",
        "Philips",
    ),
    "a move": ("I live in Bergen", "I'm moving to Oslo on 9 January", "2088-01-09", "Bergen"),
    "a price": ("Our rent is 800", "Our rent goes up to 950 in February", "2088-02-01", "800"),
    "a promotion": (
        "I'm a teacher at the Northfield school",
        "I've been promoted to head teacher, starting in January",
        "2088-01-01",
        "is a teacher",
    ),
    "a farewell": ("I work at Ericsson", "I'm leaving Ericsson on 5 May", "2088-05-05", "works"),
}
#: What is said in October ends at once what was said in June, though it names a later day.
AT_ONCE = {
    "a period": ("I live in Bergen", "I live in Helsinki until January", "Bergen"),
    "something cancelled": (
        "I have a dentist appointment on 10 December",
        "The dentist appointment on 10 December is cancelled",
        "has a dentist",
    ),
    "another day": ("The launch is on 3 December", "The launch has moved to 9 December", "is on"),
}
LATEST_DAY = "2188-01-01"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("home") / "home", encoder=MINILM.name) as opened:
        yield opened


def told(home: Recollect, name: str, *texts: str) -> Zone:
    """Return a zone with the texts of June, October and later months of 2087."""
    zone = home.zone(name.replace(" ", "-"))
    days = ("2087-06-05", "2087-10-05", "2087-10-25")
    zone.ingest([text_message(*each) for each in zip(range(3), days, texts, strict=False)])
    return zone


def current(zone: Zone) -> list[str]:
    return [fact.text for fact in zone.facts().facts]


def is_among(words: str, texts: list[str]) -> bool:
    return any(words in each for each in texts)


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_later_holds_until_then(home: Recollect, name: str) -> None:
    before, after, day, old = CHANGES[name]
    zone = told(home, f"until {name}", before, after)
    assert is_among(old, current(zone))
    for at, holds in ((day, False), (f"{day[:9]}1" if day[9] != "1" else "2087-12-31", True)):
        results = zone.recall(before, valid_at=f"{at}T13:00:00Z", scope=["facts"]).results
        assert is_among(old, [each.text for each in results]) == holds


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_later_ends_once_that_day_has_come(home: Recollect, name: str) -> None:
    before, after, _, old = CHANGES[name]
    zone = told(home, f"after {name}", before, after)
    zone.ingest([text_message(9, LATEST_DAY, "I have two cats and a hamster")])
    assert not is_among(old, current(zone))


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_later_day_that_begins_nothing_delays_nothing(home: Recollect, name: str) -> None:
    before, after, old = AT_ONCE[name]
    assert not is_among(old, current(told(home, f"at once {name}", before, after)))


def test_a_change_that_is_given_up_before_its_day_changes_nothing(home: Recollect) -> None:
    zone = told(
        home,
        "given up",
        "I work at Initech",
        "I start at Globex on 3 February",
        "I'm not going to Globex after all",
    )
    zone.ingest([text_message(9, LATEST_DAY, "I have two cats and a hamster")])
    assert is_among("works at Initech", current(zone))
    assert not is_among("starts at Globex", current(zone))


def test_who_quits_before_a_new_job_begins_quits_the_present_one(home: Recollect) -> None:
    zone = told(
        home,
        "quits",
        "I work at Initech",
        "I start at Globex on 3 February",
        "I quit my job today",
    )
    assert not is_among("works at Initech", current(zone))
    assert is_among("starts at Globex", current(zone))


def test_recall_gives_what_still_holds_as_current(home: Recollect) -> None:
    zone = told(home, "recall", "I work at Initech", "I start at Globex on 3 February")
    [found] = [
        each
        for each in zone.recall("Where does Petra work?", scope=["facts"]).results
        if "works at Initech" in each.text
    ]
    assert not found.superseded_by
