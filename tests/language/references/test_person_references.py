"""Names and pronouns of a message mean somebody who was named, or who speaks; or nobody."""

from __future__ import annotations

import pytest

from recollect.streams.language.grammar.text_reading import ReadName, TextReading
from recollect.streams.language.references.person_references import (
    IN_MIND,
    Heard,
    person_references,
)


def meant(text: str, speaker: str, *before: tuple[str, str]) -> list[tuple[str, str]]:
    """The words of a message with whom they mean; `before` in the order in which it was said."""
    heard = [Heard(who, said) for who, said in reversed(before)]
    found = person_references(text, speaker, heard)
    return [(text[each.start : each.end], each.who) for each in found]


ANN = "Ann Marsh"
TOM = "Tom Reed"
EVA = "Eva Stein"


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        # The first person is who speaks.
        ([], "I sold my car.", [("I", ANN), ("my", ANN)]),
        ([], "I'm 32, it's mine", [("I", ANN), ("mine", ANN)]),
        ([], "i hurt myself", [("i", ANN), ("myself", ANN)]),
        ([], "I’ve moved", [("I", ANN)]),
        # The second is whom it calls, else who spoke last.
        ([], "You look well.", []),
        ([(TOM, "Hi!")], "How are you?", [("you", TOM)]),
        ([(TOM, "Hi!"), (EVA, "Hello.")], "Is it your dog?", [("your", EVA)]),
        ([(TOM, "Hi!"), (EVA, "Hello.")], "Tom, is it your dog?", [("Tom", TOM), ("your", TOM)]),
        ([(TOM, "Hi!"), (EVA, "Hm")], "you guys are late", [("you", EVA), ("you", TOM)]),
        # The first person plural is everybody who speaks.
        ([(TOM, "Hi!")], "We won.", [("We", ANN), ("We", TOM)]),
        # Names of those who speak, also when they are short.
        ([(TOM, "Hi!")], "Thomas is here", [("Thomas", TOM)]),
        ([("Rachel Green", "Hi!")], "Hey Rach!", [("Rach", "Rachel Green")]),
        ([(TOM, "Hi"), ("Tom Ford", "Hi")], "Ask Tom.", [("Tom", "Tom")]),
        # He and she: who was named last and may be so called.
        ([], "My brother Tom called. He is ill.", [("My", ANN), ("Tom", "Tom"), ("He", "Tom")]),
        ([], "Peter met Mary. She left.", [("Peter", "Peter"), ("Mary", "Mary"), ("She", "Mary")]),
        ([], "Peter met Mary. He left.", [("Peter", "Peter"), ("Mary", "Mary"), ("He", "Peter")]),
        ([(TOM, "Mary is ill.")], "Is she in bed?", [("she", "Mary")]),
        ([(TOM, "Mary is ill.")], "Is he in bed?", []),
        ([(TOM, "That woman stole my hat.")], "Did she?", []),
        ([(TOM, "Ann, hi.")], "He is late.", []),
        ([], "He left.", []),
        # Relatives of the speaker, whose names are unknown.
        ([], "My sister called. She is ill.", [("My", ANN), ("She", f"{ANN}'s sister")]),
        ([(TOM, "My dad was a cook.")], "Is he ill?", [("he", f"{TOM}'s dad")]),
        (
            [],
            "My sister Mary called. She is ill.",
            [("My", ANN), ("Mary", "Mary"), ("She", "Mary")],
        ),
        # "Don't" is not Don.
        ([(TOM, "Don't go.")], "Is he ill?", []),
        # Nobody is named.
        ([], "They left. It rains.", []),
        ([], "May I go in June?", [("I", ANN)]),
        ([], "Mark my words.", [("my", ANN)]),
        ([], "", []),
        ([], "🎉 你好", []),
    ],
)
def test_a_word_means_somebody_or_nobody(
    before: list[tuple[str, str]], text: str, expected: list[tuple[str, str]]
) -> None:
    assert meant(text, ANN, *before) == expected


def test_the_reader_tells_names_in_this_and_in_earlier_messages() -> None:
    hull = TextReading((), (ReadName(0, 4, "LOCATION"),), ())
    oona = TextReading((), (ReadName(5, 9, "PERSON"),), ())
    nobody = TextReading((), (), ())
    earlier = [Heard(TOM, "Jean and Bea is a shop", hull), Heard(TOM, "with Oona at noon", oona)]
    found = person_references("she knows", ANN, earlier, nobody)
    assert [each.who for each in found] == ["Oona"]


def test_what_was_said_too_long_ago_is_out_of_mind() -> None:
    idle = [(TOM, "ok")] * (IN_MIND - 1)
    assert meant("She left.", ANN, (TOM, "Mary is here."), *idle) == [("She", "Mary")]
    assert meant("She left.", ANN, (TOM, "Mary is here."), (TOM, "ok"), *idle) == []


def test_hostile_text_is_read_in_a_bounded_time() -> None:
    long = "I told Mary you and he " * 20_000
    found = person_references(long, ANN, [Heard(TOM, long)] * 100)
    assert {each.who for each in found} <= {ANN, TOM, "Mary"}
    assert max(each.end for each in found) < 10_000
