"""Two writings of a name are equal when a reader would call them the same, and only then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.schemas.names import normalise_name
from tests.language.stating import stated


def introduced(text: str) -> list[tuple[str, str, str | None]]:
    analysis = stated(text, speaker="ada99", at_ms=0)
    for item in analysis.introductions:
        assert text[item.start : item.end] == item.name
    return [(item.name, item.kind, item.of) for item in analysis.introductions]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tom", "tom"),
        ("Tom's", "Tom"),
        ("TOM’S", "tom"),
        (" Tom   Brandt ", "tom brandt"),
        ("“Tom”,", "Tom"),
        ("Dr. Smith", "Dr Smith"),
        ("STRASSE", "straße"),
        ("\uff34\uff2f\uff2d", "Tom"),
        ("Jose\u0301", "José"),
    ],
)
def test_the_same_name(one: str, other: str) -> None:
    assert normalise_name(one) == normalise_name(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Iran", "Tigran"),
        ("Room 101", "Room 102"),
        ("José", "Jose"),
        ("C++", "C#"),
        ("C++", "C"),
        ("Anna Marie", "Annamarie"),
        ("Ana", "Anna"),
        ("!!!", "???"),
    ],
)
def test_another_name(one: str, other: str) -> None:
    assert normalise_name(one) != normalise_name(other)


@given(st.text())
def test_normalising_twice_changes_nothing(name: str) -> None:
    once = normalise_name(name)
    assert normalise_name(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hey, I'm Tyler!", [("Tyler", "name", None)]),
        ("I’m Tyler and I live here", [("Tyler", "name", None)]),
        ("Hi, I am Tyler Brandt.", [("Tyler Brandt", "name", None)]),
        ("My name is Tyler Brandt and I code.", [("Tyler Brandt", "name", None)]),
        ("my name's tyler", [("tyler", "name", None)]),
        ("This is Sarah from accounting.", [("Sarah", "name", None)]),
        ("It's Sarah here", [("Sarah", "name", None)]),
        ("Call me Mel.", [("Mel", "nickname", None)]),
        ("Everyone calls me Mel", [("Mel", "nickname", None)]),
        ("I go by Mel", [("Mel", "nickname", None)]),
        ("Tom goes by Tommy", [("Tommy", "nickname", "Tom")]),
        ("Good morning all! I'm Zorblax, the new baker.", [("Zorblax", "name", None)]),
        ("Hi Melanie, I'm Zorblax Fenn.", [("Zorblax Fenn", "name", None)]),
        ("Note to new people: I'm Zorblax", [("Zorblax", "name", None)]),
        ("The flat is free. I'm Zorblax from the agency.", [("Zorblax", "name", None)]),
        ("We haven't met: my name is Tyler.", [("Tyler", "name", None)]),
        ("Hello, this is Tyler calling about the car.", [("Tyler", "name", None)]),
        ('please call me "Mel"', [("Mel", "nickname", None)]),
        ("my sister Katherine (Kate) came", [("Kate", "nickname", "Katherine")]),
        ("We met Thomas Brandt (aka Tommy).", [("Tommy", "nickname", "Thomas Brandt")]),
        ("I'm Tomás. I live in Rome.", [("Tomás", "name", None)]),
    ],
)
def test_an_introduction_is_understood(
    text: str, expected: list[tuple[str, str, str | None]]
) -> None:
    assert introduced(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I'm Happy",
        "I'm German.",
        "I'm Catholic",
        "I'm Tyler's brother",
        "I am not Tyler",
        "I'm in Berlin",
        "I'm Friday's host",
        "She thinks I'm Batman.",
        "Are you sure I'm Tyler?",
        "call me later",
        "Call me Tuesday",
        "It's Berlin",
        "This is Sarah.",
        "Berlin (Germany) is big",
        "What's your name?",
        "my name is not important",
        "> I'm Tyler",
        "I'm Hungry.",
        "I am Vegan",
        "I'm Dutch",
        "Hi, I'm Vegetarian!",
        "I'm Team Lead",
        "I'm Head Chef at Noma",
        "I'm Senior Developer from Graz",
        "I'm Exhausted from work",
        "I'm Stuck here",
        "I'm Scandinavian",
        "I'm B.",
        "I'm Batman.",
        "The party was great. I'm Tyler.",
        "My role: I'm Product Owner",
        "This is Tyler speaking for Lee.",
        "This is Tyler calling on behalf of Lee",
        "This is Tyler speaking at the conference",
        "This is Sarah from accounting, she sings",
        "This is Kelp from yesterday",
        "Look at this. This is Sarah from accounting.",
        "the name's Rex and he bites",
        "Don't call me Tyler",
        "If you call me Tyler again I leave",
        "My bank calls me Melanie",
        "She called me Karen",
        "My name is spelled Katherine",
        "my name is on eleven things",
        "Pretend my name is Tyler",
    ],
)
def test_what_introduces_nobody(text: str) -> None:
    assert introduced(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'He said "My name is Bob".',
        'He said "Hi there. My name is Bob. Call me Bobby."',
        "He said “My name is Bob” and left",
        "„Ich bin neu. My name is Bob“",
        "«My name is Bob»",
        "'My name is Bob' was all he said",
        'It began with "My name is Bob',
        "He said my name is Bob",
        "She told me: I'm Bob",
        "She told me:\nI'm Bob from accounting",
        "He wrote: hello all. My name is Bob.",
        "Everyone thinks my name is Bob",
        'She texted "call me Bob"',
        '"Tom goes by Tommy" is what it says',
    ],
)
def test_the_words_of_others_introduce_nobody(text: str) -> None:
    assert introduced(text) == []


def test_after_a_quotation_the_speaker_speaks() -> None:
    assert introduced('He said "no". My name is Tyler.') == [("Tyler", "name", None)]
    assert introduced('My 27" monitor broke. My name is Tyler.') == [("Tyler", "name", None)]
    assert introduced('The sign: "closed\n\nMy name is Tyler.') == [("Tyler", "name", None)]
