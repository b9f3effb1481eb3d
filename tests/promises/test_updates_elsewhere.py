"""A later message ends what an earlier one states, in whatever conversation it is sent (F7)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect import Recollect, Zone
from recollect.schemas.inbound import InboundEvent
from recollect.streams.encoder.catalog import MINILM
from tests.text_messages import text_message

UPDATES = {
    "another home": ("We live in Oslo", "We relocated to Bergen last week"),
    "another employer": ("I work for Siemens", "I left Siemens and now work for Bosch"),
    "another school": ("I go to Lincoln High", "I switched to Roosevelt High"),
    "another price": ("The rent is 800 euros", "The rent went up to 850 euros"),
    "another date": ("The deadline is on 3 May", "The deadline has moved to 10 May"),
    "the home of a relative": ("My mum lives in Cork", "Mum has moved to Galway"),
    "given up": ("I play tennis on Mondays", "I stopped playing tennis"),
    "one of a name": ("Ines from the rowing team lives in Faro", "Ines moved to Evora"),
    "two at once": ("Ivo lives in Cork", "Ivo quit his job and moved to Galway"),
    "a parting": ("My girlfriend is called Ines", "Ines and I broke up"),
    "an animal": ("We have a hamster named Fitz", "Fitz has passed away"),
}
NO_UPDATES = {
    "of somebody else": ("We live in Oslo", "My brother relocated to Bergen last week"),
    "of another thing": ("The rent is 800 euros", "The deposit is 1,600 euros"),
    "one more": ("I play tennis on Mondays", "I took up rowing in spring"),
    "of a partner": ("My girlfriend is called Ines", "I had an argument with Ines yesterday"),
    "a present": ("My husband is called Luc", "Luc must not know that I bought him a guitar"),
    "of kin": ("Ivo is my uncle", "Ivo quit his job and moved to Galway"),
    "a promotion": ("I work for Siemens", "I was promoted to plant manager"),
    "the end of another job": ("I start at Bosch on 1 September", "I quit my job at Siemens"),
    "a pastime": ("I play in the orchestra Harmonia", "I quit my job at Siemens"),
    "where it is": ("I drive a Fiat", "The Fiat is in the workshop"),
    "a return": ("We live in Oslo", "We are back from Malta, it was hot"),
    "a purchase": ("We live in Oslo", "We are buying a cottage in Lillehammer"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("home") / "home", encoder=MINILM.name) as opened:
        yield opened


def message(number: int, text: str) -> InboundEvent:
    """Return a message of the first months of 2026; `number`: of the month."""
    return text_message(number, f"2026-0{number}-05", text)


def facts_of(zone: Zone, event: str) -> list[bool]:
    """Return for each fact of an event whether it is current."""
    page = zone.facts(superseded=True)
    return [fact.current for fact in page.facts if fact.source_event_ids == [event]]


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_ends_the_earlier_fact(home: Recollect, name: str) -> None:
    zone = home.zone(f"update-{name.replace(' ', '-')}")
    zone.ingest([message(2, UPDATES[name][0]), message(5, UPDATES[name][1])])
    assert facts_of(zone, "m2") == [False]
    assert zone.verify().ok


@pytest.mark.parametrize("name", NO_UPDATES)
def test_what_is_no_update_ends_nothing(home: Recollect, name: str) -> None:
    zone = home.zone(f"none-{name.replace(' ', '-')}")
    zone.ingest([message(2, NO_UPDATES[name][0]), message(5, NO_UPDATES[name][1])])
    assert facts_of(zone, "m2") == [True]


def test_a_job_ends_with_the_facts_that_name_its_employer(home: Recollect) -> None:
    zone = home.zone("quit")
    zone.ingest(
        [
            message(1, "I work as a welder at Siemens"),
            message(2, "I play in the orchestra Harmonia"),
            message(3, "I start at Bosch on 1 September"),
            message(4, "I quit my job at Siemens"),
        ]
    )
    # The first fact says what the job is, the second whose employee Petra is.
    assert [facts_of(zone, f"m{each}") for each in (1, 2, 3)] == [[False, False], [True], [True]]


def test_a_promotion_gives_a_role(home: Recollect) -> None:
    zone = home.zone("promoted")
    zone.ingest([message(2, "I work as a cook"), message(5, "I was promoted to head of catering")])
    slots = [(fact.value, fact.current) for fact in zone.facts(superseded=True).facts]
    assert slots == [("head of catering", True), ("cook", False)]


def test_a_fact_holds_again_once_its_end_is_forgotten(home: Recollect) -> None:
    zone = home.zone("forgotten-update")
    zone.ingest([message(2, "I play tennis on Mondays"), message(5, "I stopped playing tennis")])
    assert facts_of(zone, "m2") == [False]
    zone.forget("m5")
    assert facts_of(zone, "m2") == [True]


def test_what_is_no_fact_itself_ends_one_until_it_is_retracted(home: Recollect) -> None:
    zone = home.zone("no-fact")
    zone.ingest([message(2, "We have a rabbit called Momo"), message(5, "Momo died last night")])
    assert facts_of(zone, "m5") == []
    assert facts_of(zone, "m2") == [False]
    stale = next(each for each in zone.recall("rabbit").results if each.type == "fact")
    (by,) = stale.superseded_by
    assert by.text == "Momo died last night"
    zone.retract(by.id)
    assert facts_of(zone, "m2") == [True]
    zone.retract(by.id, restore=True)
    assert facts_of(zone, "m2") == [False]
    assert zone.verify().ok
