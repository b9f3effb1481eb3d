"""Which earlier claims a statement may end, by what the reader says of its sentence."""

from __future__ import annotations

from recollect.streams.language.attributes.endings import ending_of
from recollect.streams.language.grammar.analysis import Ending, Mention
from recollect.streams.language.grammar.text_reading import (
    ReadSentence,
    ReadValue,
    ReadWord,
    TextReading,
    ValueType,
)


def ending(
    tagged: str,
    *ends: tuple[ValueType, int],
    people: str = "",
    over: tuple[str, ValueType] = ("", "open"),
) -> Ending | None:
    """Return what a sentence of Ada's may end; `tagged` are its words, each with its tag.

    `over`: a value that no longer holds, and its type.
    """
    pairs = [word.rsplit("/", 1) for word in tagged.split(" ")]
    text = " ".join(word for word, _ in pairs)
    words, at = [], 0
    for word, tag in pairs:
        words.append(ReadWord(at, at + len(word), tag))
        at += len(word) + 1
    sentence = ReadSentence(0, len(text), "statement", 100, ends)
    found = [
        Mention(text.index(one), text.index(one) + len(one), one, "PERSON")
        for one in people.split()
    ]
    value, type_ = over
    start = text.index(value)
    values = (ReadValue(start, start + len(value), 80, type_, 90, 100, 10),) if value else ()
    reading = TextReading(tuple(words), (), (sentence,), values)
    return ending_of(text, (0, len(text)), "Ada", found, reading)


def test_a_sentence_that_ends_nothing_has_no_ending() -> None:
    assert ending("I/PRP sing/VBP") is None


def test_the_types_are_those_of_attributes_each_with_the_likeliest() -> None:
    found = ending("I/PRP quit/VBD", ("job", 40), ("employer", 30), ("home", 2))
    assert found is not None
    assert dict(found.attributes) == {
        "home": 2,
        "housing": 2,
        "employer": 40,
        "role": 40,
        "work": 40,
        "membership": 30,
    }
    assert found.percent == 72


def test_the_sender_is_meant_where_nobody_else_is_named() -> None:
    found = ending("sold/VBD the/DT van/NN", ("possession", 50))
    assert found is not None
    assert (found.persons, found.things) == (("Ada",), ("Ada's van",))


def test_somebody_else_who_is_named_is_meant() -> None:
    found = ending("Bob/NNP left/VBD the/DT choir/NN", ("membership", 50), people="Bob")
    assert found is not None
    assert (found.persons, found.owner) == (("Bob",), "Ada")
    found = ending("my/PRP$ sister/NN quit/VBD", ("job", 50))
    assert found is not None
    assert found.persons == ("Ada's sister",)
    found = ending("my/PRP$ sister/NN and/CC I/PRP quit/VBD", ("job", 50))
    assert found is not None
    assert (found.persons, found.owner) == (("Ada", "Ada's sister"), "")


def test_open_attributes_are_named_by_noun_phrases() -> None:
    found = ending("the/DT front/JJ door/NN code/NN is/VBZ 12/CD", ("open", 50))
    assert found is not None
    assert found.phrases == ("front door code",)


def test_a_value_that_is_over_ends_facts_of_its_type() -> None:
    found = ending("I/PRP left/VBD the/DT choir/NN", ("job", 4), over=("choir", "membership"))
    assert found is not None
    assert dict(found.attributes)["membership"] == 81
