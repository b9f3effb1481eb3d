"""A message that names a relative says who that is, and what is said of them."""

from __future__ import annotations

import re

import pytest

from recollect.streams.language.grammar.analysis import Claim, Statement
from recollect.streams.language.grammar.text_reading import (
    ReadName,
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)
from recollect.streams.language.references.person_antecedents import PrecedingMessage
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from tests.language.stating import stated


def told(text: str) -> list[tuple[str, Claim | None]]:
    said = stated(text, speaker="Ada Novak").statements
    return [(each.text, each.claim) for each in said]


@pytest.mark.parametrize(
    ("text", "of_person", "told_of_person", "relation", "told_of_relation"),
    [
        (
            "My niece Ines is pescatarian.",
            Claim("Ines", "diet", "pescatarian"),
            "Ada Novak's niece Ines is pescatarian.",
            Claim("Ada Novak", "family", "niece Ines"),
            "Ines is Ada Novak's niece.",
        ),
        (
            "My oldest friend Bruno works at the old sawmill.",
            Claim("Bruno", "work", "at the old sawmill"),
            "Ada Novak's oldest friend Bruno works at the old sawmill.",
            Claim("Ada Novak", "friend", "Bruno"),
            "Bruno is Ada Novak's oldest friend.",
        ),
        (
            "My uncle Otto lives in Graz.",
            Claim("Otto", "home", "Graz"),
            "Ada Novak's uncle Otto lives in Graz.",
            Claim("Ada Novak", "family", "uncle Otto"),
            "Otto is Ada Novak's uncle.",
        ),
        (
            "My husband Bruno hates olives.",
            Claim("Bruno", "dislikes", "olives"),
            "Ada Novak's husband Bruno hates olives.",
            Claim("Ada Novak", "partner", "Bruno"),
            "Bruno is Ada Novak's husband.",
        ),
    ],
)
def test_an_attribute_of_a_relative_stands_beside_the_relation(
    text: str,
    of_person: Claim,
    told_of_person: str,
    relation: Claim,
    told_of_relation: str,
) -> None:
    assert told(text) == [(told_of_person, of_person), (told_of_relation, relation)]


def test_each_statement_has_its_own_words_as_evidence() -> None:
    text = "Yes, my niece Ines is pescatarian."
    person, relation = stated(text, speaker="Ada").statements
    assert text[relation.start : relation.end] == "my niece Ines"
    assert "pescatarian" in text[person.start : person.end]
    assert [each.text for each in relation.mentions] == ["Ines"]


def test_who_somebody_is_may_be_all_that_is_said() -> None:
    assert told("Bruno is my oldest friend.") == [
        ("Bruno is Ada Novak's oldest friend.", Claim("Ada Novak", "friend", "Bruno"))
    ]


def test_a_name_between_commas_is_the_relatives() -> None:
    assert told("My aunt, Ines, lives in Graz.") == [
        ("Ada Novak's aunt, Ines, lives in Graz.", Claim("Ada Novak", "family", "aunt Ines"))
    ]


def test_a_relation_is_stated_once() -> None:
    text = "My niece Ines is pescatarian. My niece Ines loves jazz."
    relations = [claim for _, claim in told(text) if claim and claim.attribute == "family"]
    assert relations == [Claim("Ada Novak", "family", "niece Ines")]


@pytest.mark.parametrize(
    "text",
    [
        "My ex husband Bruno hates olives.",
        "My niece is pescatarian.",
        "Perhaps Ines is my niece.",
        "My niece's friend Ines is pescatarian.",
        "Zoe's niece Ines is pescatarian.",
        "My niece called Ines yesterday.",
    ],
)
def test_nobody_else_becomes_a_relative_or_friend(text: str) -> None:
    attributes = {claim.attribute for _, claim in told(text) if claim is not None}
    assert attributes.isdisjoint({"family", "partner", "friend"})


NAMING = "My niece Ines came by."


def read_names(text: str) -> tuple[ReadName, ...]:
    return tuple(
        ReadName(each.start(), each.end(), "PERSON", 99)
        for each in re.finditer("Ines|Lena|Bruno|Milo", text)
    )


def of_niece(
    *before: tuple[str, str], text: str = "My niece is pescatarian."
) -> tuple[Statement, ...]:
    """Return what Ada says of her niece, after other messages, as a reader reads them."""
    return read(text, "pescatarian", "diet", *before)


def read(
    text: str, said: str, value_type: ValueType, *before: tuple[str, str]
) -> tuple[Statement, ...]:
    """Return what Ada says in a text in which a reader finds one value."""
    start = text.index(said)
    value = ReadValue(start, start + len(said), 99, value_type, 99, 1, 99)
    words = tuple(
        ReadWord(*each.span(), "NN" if each[0] == "baker" else "")
        for each in re.finditer(r"\w+", text)
    )
    sentence = ReadSentence(0, len(text), "statement", 100)
    document = Document(
        text=text,
        speaker="Ada",
        at_ms=0,
        reading=TextReading(words, read_names(text), (sentence,), (value,)),
        before=tuple(
            PrecedingMessage(number, who, said, TextReading((), read_names(said), (), ()))
            for number, (who, said) in enumerate(before, 1)
        ),
        keep=((0, len(text)),),
    )
    return analyse(document).statements


def test_an_apposition_names_a_relative() -> None:
    said = of_niece(text="Ines, my niece, is pescatarian.")
    assert [(each.text, each.claim) for each in said] == [
        ("Ines, Ada's niece, is pescatarian.", Claim("Ines", "diet", "pescatarian")),
        ("Ines is Ada's niece.", Claim("Ada", "family", "niece Ines")),
    ]


def test_a_relative_has_the_name_that_an_earlier_message_gives() -> None:
    (said,) = of_niece(("Bob", "ok"), ("Ada", NAMING))
    assert said.claim == Claim("Ines", "diet", "pescatarian")
    assert said.text == "Ada's niece Ines is pescatarian."
    assert said.told_with == (2,)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ((), "My niece is pescatarian."),
        # Of several, it is open who is meant.
        ((("Ada", NAMING), ("Ada", "My niece Lena is ill.")), "My niece is pescatarian."),
        ((("Ada", NAMING),), "My younger niece is pescatarian."),
        # Somebody else's.
        ((("Bob", NAMING),), "My niece is pescatarian."),
        ((("Ada", "My aunt Ines came by."),), "My niece is pescatarian."),
        (
            (("Ada", NAMING), ("Ada", "My younger niece Lena is ill.")),
            "My niece is pescatarian.",
        ),
        ((("Ada", NAMING), ("Ada", "I have two nieces.")), "My niece is pescatarian."),
    ],
)
def test_a_relative_without_a_known_name_is_only_a_relative(
    before: tuple[tuple[str, str], ...], text: str
) -> None:
    (said,) = of_niece(*before, text=text)
    assert said.claim == Claim("Ada's niece", "diet", "pescatarian")
    assert "Ines" not in said.text


@pytest.mark.parametrize(
    "text",
    [
        "Bruno believes Ines is my niece and pescatarian.",
        "I told my niece Bruno is pescatarian.",
    ],
)
def test_a_reader_finds_nobody_else_to_be_a_relative(text: str) -> None:
    attributes = {each.claim.attribute for each in of_niece(text=text) if each.claim}
    assert "family" not in attributes


def test_a_friend_without_a_name_may_be_anybody() -> None:
    (said,) = of_niece(("Ada", "My friend Ines came by."), text="My friend is pescatarian.")
    assert said.claim == Claim("Ada's friend", "diet", "pescatarian")


def test_whoever_is_addressed_is_not_the_relative() -> None:
    (said,) = of_niece(text="Thanks Bruno, my niece is pescatarian.")
    assert said.text == "Ada's niece is pescatarian."
    assert said.claim == Claim("Ada's niece", "diet", "pescatarian")


def test_what_a_pet_likes_stands_beside_whose_it_is() -> None:
    said = read("Our cat Milo loves tuna.", "tuna", "like")
    assert [each.text for each in said] == ["Ada's cat Milo loves tuna.", "Milo is Ada's cat."]
    assert said[1].claim == Claim("Ada", "pet", "cat Milo")


def test_a_reader_tells_an_employer_from_other_places_of_work() -> None:
    (said,) = read("I work at the sawmill.", "the sawmill", "employer")
    assert said.claim == Claim("Ada", "employer", "the sawmill")


def test_the_name_of_the_speaker_is_no_value() -> None:
    (said,) = read("I'm Ada, the new baker.", "Ada", "name")
    assert said.text == "Ada is the new baker."
    assert said.claim is None
