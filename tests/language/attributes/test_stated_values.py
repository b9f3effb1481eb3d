"""What slot a value fills that the reader found: by its type, or the noun that it is said of."""

from __future__ import annotations

import pytest

from recollect.streams.language.attributes.stated_values import stated_slot
from recollect.streams.language.grammar.analysis import Claim, Mention
from recollect.streams.language.grammar.text_reading import (
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)


def claim(tagged: str, value: str, people: str = "") -> Claim | None:
    """Return the claim of a text that Ada wrote; `tagged` are its words, each with its tag."""
    return slot(tagged, value, people)


def slot(
    tagged: str,
    value: str,
    people: str = "",
    type_: ValueType = "open",
    own: int = 100,
    holds: int = 100,
    sure: int = 90,
    ends: int = 0,
) -> Claim | None:
    """Return the slot of a text that Ada wrote, with one value, of which the heads say this.

    `ends`: the probability that the sentence ends facts of the value's type.
    """
    pairs = [word.rsplit("/", 1) for word in tagged.split(" ")]
    text = " ".join(word for word, _ in pairs)
    words, at = [], 0
    for word, tag in pairs:
        words.append(ReadWord(at, at + len(word), tag))
        at += len(word) + 1
    start = text.rindex(value)
    values = (ReadValue(start, start + len(value), 80, type_, sure, own, holds),)
    found = [
        Mention(text.index(one), text.index(one) + len(one), one, "PERSON")
        for one in people.split()
    ]
    sentence = ReadSentence(0, len(text), "statement", 100, ((type_, ends),) if ends else ())
    reading = TextReading(tuple(words), (), (sentence,), values)
    return stated_slot(text, (0, len(text)), "Ada", found, reading)


@pytest.mark.parametrize(
    ("tagged", "value", "subject", "attribute"),
    [
        ("the/DT boiler/NN is/VBZ broken/VBN", "broken", "Ada", "boiler"),
        ("my/PRP$ left/JJ knee/NN is/VBZ swollen/JJ", "swollen", "Ada", "left knee"),
        ("my/PRP$ operation/NN is/VBZ on/IN Monday/NNP", "Monday", "Ada", "operation"),
        ("my/PRP$ girlfriend/NN Lena/NNP", "Lena", "Ada", "girlfriend"),
        ("his/PRP$ job/NN in/IN Portland/NNP", "Portland", "Ada", "job in"),
    ],
)
def test_an_open_attribute_is_named_by_its_noun(
    tagged: str, value: str, subject: str, attribute: str
) -> None:
    assert claim(tagged, value) == Claim(subject, attribute, value)


def test_a_value_of_somebody_named_is_theirs() -> None:
    found = claim("Bob/NNP 's/POS knee/NN is/VBZ sore/JJ", "sore", people="Bob")
    assert found == Claim("Bob", "knee", "sore")


@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("Ghent/NNP it/PRP is/VBZ", "Ghent"),
        ("I/PRP thought/VBD about/IN a/DT nap/NN", "a nap"),
        ("my/PRP$ dog/NN", "dog"),
    ],
)
def test_a_value_that_is_said_of_no_noun_fills_no_slot(tagged: str, value: str) -> None:
    assert claim(tagged, value) is None


def test_a_thing_called_like_a_listed_attribute_fills_no_slot() -> None:
    assert claim("my/PRP$ phone/NN is/VBZ broken/VBN", "broken") is None


def test_a_typed_value_fills_the_slot_of_its_type() -> None:
    found = slot("we/PRP settled/VBD in/IN Ghent/NNP", "Ghent", type_="home")
    assert found == Claim("Ada", "home", "Ghent")


def test_a_value_of_somebody_else_is_not_the_speakers() -> None:
    tagged = "my/PRP$ sister/NN settled/VBD in/IN Ghent/NNP"
    assert slot(tagged, "Ghent", type_="home", own=5) == Claim("Ada's sister", "home", "Ghent")
    named = "Bob/NNP settled/VBD in/IN Ghent/NNP"
    assert slot(named, "Ghent", "Bob", type_="home", own=5) == Claim("Bob", "home", "Ghent")


def test_a_value_of_a_thing_is_one_of_every_thing_that_is_named() -> None:
    tagged = "the/DT fee/NN for/IN the/DT course/NN is/VBZ now/RB 90/CD"
    found = slot(tagged, "90", type_="price")
    assert found == Claim("Ada's fee", "…'s price", "90", also=("Ada's course",))


def test_a_value_that_is_over_fills_no_slot() -> None:
    tagged = "I/PRP sold/VBD the/DT Golf/NNP"
    assert slot(tagged, "Golf", type_="possession", holds=4) is None


@pytest.mark.parametrize(
    ("holds", "ends", "fills"), [(60, 30, False), (60, 3, True), (95, 60, True)]
)
def test_a_value_that_its_sentence_seems_to_end_must_clearly_hold(
    holds: int, ends: int, fills: bool
) -> None:
    """ "Lena and I parted" does not say again that the partner is Lena."""
    tagged = "Lena/NNP and/CC I/PRP parted/VBD"
    found = slot(tagged, "Lena", type_="partner", holds=holds, ends=ends)
    assert (found is not None) == fills


def test_an_unsure_type_ends_no_earlier_value_of_a_person() -> None:
    tagged = "my/PRP$ last/JJ day/NN is/VBZ Friday/NNP"
    assert slot(tagged, "Friday", type_="birthday", sure=54) == Claim("Ada", "last day", "Friday")
    assert slot("I/PRP drink/VBP oat/NN milk/NN", "oat milk", type_="diet", sure=54) == (
        Claim("Ada", "diet", "oat milk")
    )
