"""Which slot a message fills, and whose: read by the shipped classifiers, in everyday words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from recollect import Recollect
from recollect.streams.encoder.catalog import MINILM
from tests.text_messages import text_message

#: A message of Petra's, and a slot that it fills: subject, attribute and value.
TOLD = {
    "a list": ("I speak Greek, Danish and a little Basque", "Petra", "language", "Danish"),
    "the rest of a list": (
        "I speak Greek, Danish and a little Basque",
        "Petra",
        "language",
        "Basque",
    ),
    "a birthday": ("Lorcan's bday 8 Aug", "Lorcan", "birthday", "--08-08"),
    "a birthday in words": (
        "Our Ada's birthday is the second of November",
        "Ada",
        "birthday",
        "11-02",
    ),
    "a job besides an employer": (
        "I work for the city council of Cork as an urban planner",
        "Petra",
        "role",
        "urban planner",
    ),
    "a doctor's surgery": (
        "My doctor is Doctor Hussain at the Spring Vale surgery",
        "Hussain",
        "employer",
        "Spring Vale surgery",
    ),
    "since long": ("I have been vegan for eight years", "Petra", "diet", "vegan"),
    "since long, of a friend": (
        "My friend Lorcan has been vegetarian since 2015",
        "Lorcan",
        "diet",
        "vegetarian",
    ),
    "a list of a grandmother": ("Granny speaks Welsh and Dutch", "granny", "language", "Welsh"),
    "what a friend eats": (
        "My friend Lorcan does not eat fish",
        "Lorcan",
        "diet",
        "not eat fish",
    ),
    "what one eats": ("I don't eat meat", "Petra", "diet", "eat meat"),
    "he": (
        "My neighbour Goran visited us. He is vegan and plays chess.",
        "Goran",
        "diet",
        "vegan",
    ),
    "he, a brother": ("My brother called. He works for Bosch now.", "brother", "employer", "Bosch"),
    "an animal": ("Our parrot is named Pepper", "Petra", "pet", "parrot Pepper"),
    "an animal's name": ("my rabbit's name is Clover", "Petra", "pet", "rabbit Clover"),
    "a parent": ("Mum is allergic to penicillin", "mum", "health", "penicillin"),
    "a move to come": ("We're moving to Lisbon on 9 March", "Petra", "home", "Lisbon"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recollect]:
    with Recollect(tmp_path_factory.mktemp("home") / "home", encoder=MINILM.name) as opened:
        yield opened


def slots(home: Recollect, name: str, *texts: str) -> list[tuple[str, str, str, bool]]:
    """Return the slots of a zone with these messages: subject, attribute, value, current."""
    zone = home.zone(name.replace(" ", "-").replace("'", "").replace(",", ""))
    zone.ingest(
        text_message(number, f"2026-0{number + 1}-05", text) for number, text in enumerate(texts)
    )
    return [
        (fact.subject or "", fact.attribute or "", fact.value or "", fact.current)
        for fact in zone.facts(superseded=True).facts
    ]


@pytest.mark.parametrize("name", TOLD)
def test_a_message_fills_a_slot_of_whom_it_is_about(home: Recollect, name: str) -> None:
    text, subject, attribute, value = TOLD[name]
    found = slots(home, name, text)
    assert any(
        subject in each[0] and each[1] == attribute and value in each[2] for each in found
    ), found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My cat is called Pepper", "Pepper died"),
        ("Our hamster is named Fitz", "Fitz has passed away"),
        ("our dog's name is Bramble", "we lost Bramble, he died on Sunday"),
    ],
)
def test_an_animal_that_has_died_is_no_pet_any_more(home: Recollect, one: str, other: str) -> None:
    found = slots(home, one, one, other)
    assert [each for each in found if each[1] in ("pet", "…'s name") and each[3]] == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("My sister's husband is vegan", "Petra"),
        ("Your mum is vegan", "Petra"),
        ("I don't have any allergies", "Petra"),
        ("My doctor is Doctor Hussain at the Spring Vale surgery", "Petra"),
        ("we have a cabin in Lyngen", "Petra"),
    ],
)
def test_what_is_so_of_somebody_else_is_no_slot_of_the_sender(
    home: Recollect, text: str, wrong: str
) -> None:
    listed = ("diet", "health", "employer", "home")
    assert [
        each for each in slots(home, text, text) if each[0] == wrong and each[1] in listed
    ] == []
