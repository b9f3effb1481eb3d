"""Words that say that something is added, and whom or what a sentence is said of."""

from __future__ import annotations

import pytest

from recollect.streams.language.relations.additions import find_addition
from recollect.streams.language.relations.further_values import ToldValues
from recollect.streams.language.relations.subjects import Subject, subject_of
from recollect.text.tokenizer import tokenise
from tests.agents.kit import START
from tests.language.stating import stated


@pytest.mark.parametrize(
    "said",
    [
        "I also play the cello.",
        "Also, I play the cello.",
        "Also I play the cello.",
        "And also, my sister plays it.",
        "I've also been to Rome.",
        "Moreover, the museum has a garden.",
        "Moreover the museum has a garden.",
        "Additionally, I teach.",
        "In addition, we moved.",
        "In addition to that, we moved.",
        "On top of that, we moved.",
        "On top of it all, we moved.",
        "Besides, I can't swim.",
        "Besides that, I can't swim.",
        "What's more, he paid.",
        "Plus, I paid.",
        "Plus my sister paid.",
        "I play the cello too.",
        "I play the cello as well!",
        "We got another cat named Suki.",
        "I bought one more guitar.",
        "Besides the dance classes, I teach yoga.",
        "I teach yoga in addition to my dance classes.",
    ],
)
def test_something_is_added(said: str) -> None:
    assert find_addition(said, 0, len(said)) is not None


@pytest.mark.parametrize(
    "said",
    [
        "I play the cello.",
        "It is too late.",
        "I ate too much cake.",
        "Me too!",
        "You too.",
        "I am too.",
        "We might as well.",
        "I sing as well as my mother.",
        "All is well.",
        "Turin, also known as Augusta, has a river.",
        "It was red and also blue.",
        "Not only did I sing, I also danced.",
        "The man who also sings left.",
        "If I also sang, they would laugh.",
        "They love one another.",
        "I met him another day.",
        "Let us do it another time.",
        "I went there another way.",
        "I have another reason.",
        "On another note, I sold my car.",
        "I'd love another painting of yours.",
        "A plus size dress.",
        "Five plus six is eleven.",
        "The box is on top of the shelf.",
        "She sat besides me.",
        "I would also like to mention the rent.",
        "",
        "also",
        "another",
    ],
)
def test_nothing_is_added(said: str) -> None:
    assert find_addition(said, 0, len(said)) is None


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        ("I play the cello.", ("i",)),
        ("We've moved to Rome.", ("i",)),
        ("Unfortunately, I also lost my job.", ("i",)),
        ("In May I moved to Rome.", ("i",)),
        ("When she left, I cried.", ("i",)),
        ("Lost my job yesterday.", ("i",)),
        ("My sister Ana plays the cello.", ("my", "sister", "ana")),
        ("Our landlord sold the house.", ("my", "landlord")),
        ("Ana Ruiz lives in Turin.", ("ana", "ruiz")),
        ("Ana's also a vet.", ("ana",)),
        ("The old kiln has a crack.", ("old", "kiln")),
        ("She teaches.", ("she",)),
        ("It's red.", ("it",)),
        ("His sister plays the cello.", None),
        ("There is a garden.", None),
        ("Everyone sings.", None),
        ("In May the shop closed.", None),
        ("My kids and I painted it.", None),
        ("A long row of words about nothing at all here", None),
        ("", None),
    ],
)
def test_whom_a_sentence_is_said_of(said: str, subject: Subject | None) -> None:
    assert subject_of(tokenise(said), 0, len(said)) == subject


@pytest.mark.parametrize(
    ("text", "known", "told"),
    [
        ("dancing", "all dances", True),
        ("dance", "dancing", True),
        ("playing the cello", "playing the violin", False),
        ("jazz", "jazz from New Orleans", True),
        ("jazz from New Orleans", "jazz", False),
        ("cats", "cat", True),
        ("art", "artichokes", False),
        ("", "jazz", True),
    ],
)
def test_what_another_value_tells_already(text: str, known: str, told: bool) -> None:
    assert ToldValues().is_told(text, known) is told


def test_a_message_of_nothing_but_additions_adds_each_to_one() -> None:
    words = " ".join(f"I also play the cello in band {place} in Turin." for place in range(400))
    found = stated(words, speaker="Ada", at_ms=START)
    assert len(found.statements) == 256
    assert len({each.statement for each in found.added}) == len(found.added) <= 255
