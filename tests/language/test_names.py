"""Two writings of a name are equal when a reader would call them the same, and only then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.names import normalise_name
from streams.language import analyse


def introduced(text: str) -> list[tuple[str, str, str | None]]:
    analysis = analyse(text, speaker="ada99", at_ms=0)
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
        ("my sister Katherine (Kate) came", [("Kate", "nickname", "Katherine")]),
        ("We met Thomas Brandt (aka Tommy).", [("Tommy", "nickname", "Thomas Brandt")]),
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
    ],
)
def test_what_introduces_nobody(text: str) -> None:
    assert introduced(text) == []
