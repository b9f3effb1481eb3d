"""Several claims of one sentence: each is a statement of its own, that a newer value can end."""

from __future__ import annotations

import time

import pytest

from tests.language.stating import stated

AT = 1_780_000_000_000
#: A fact's text, and whose, which and what its claim is.
Told = tuple[str, str, str, str]


def told(text: str, speaker: str | None = "Ada") -> list[Told]:
    said = stated(text, speaker=speaker, at_ms=AT).statements
    return [
        (each.text, each.claim.subject, each.claim.attribute, each.claim.value)
        for each in said
        if each.claim is not None
    ]


SEVERAL: list[tuple[str, list[Told]]] = [
    (
        "I live in Turin and work as a nurse.",
        [
            ("Ada lives in Turin.", "Ada", "home", "Turin"),
            ("Ada works as a nurse.", "Ada", "role", "nurse"),
        ],
    ),
    (
        "We moved from Lyon to Ghent and I now teach maths.",
        [
            ("Ada and others moved from Lyon to Ghent.", "Ada", "home", "Ghent"),
            ("Ada now teaches maths.", "Ada", "work", "teaching maths"),
        ],
    ),
    (
        "My sister Ana, a vet in Porto, turned 40.",
        [
            ("Ada's sister Ana, a vet in Porto, turned 40.", "Ana", "age", "40"),
            ("Ada's sister Ana is a vet in Porto.", "Ana", "role", "vet"),
            ("Ada's sister is Ana.", "Ada", "family", "sister Ana"),
        ],
    ),
    (
        "My brother Tom works at Siemens and lives in Bonn.",
        [
            ("Ada's brother Tom works at Siemens.", "Tom", "employer", "Siemens"),
            ("Ada's brother Tom lives in Bonn.", "Tom", "home", "Bonn"),
            ("Ada's brother is Tom.", "Ada", "family", "brother Tom"),
        ],
    ),
    (
        "I'm 29, divorced and live in Pisa.",
        [
            ("Ada is 29.", "Ada", "age", "29"),
            ("Ada is divorced.", "Ada", "relationship", "divorced"),
            ("Ada lives in Pisa.", "Ada", "home", "Pisa"),
        ],
    ),
    (
        "I'm 67 and retired.",
        [("Ada is 67.", "Ada", "age", "67"), ("Ada is retired.", "Ada", "role", "retired")],
    ),
    (
        "I'm a 34 year old welder from Gdansk.",
        [
            ("Ada is a 34 year old welder from Gdansk.", "Ada", "age", "34"),
            ("Ada is a welder from Gdansk.", "Ada", "role", "welder"),
            ("Ada is from Gdansk.", "Ada", "origin", "Gdansk"),
        ],
    ),
    (
        "I work for Siemens as an engineer.",
        [
            ("Ada works for Siemens as an engineer.", "Ada", "employer", "Siemens"),
            ("Ada works as an engineer.", "Ada", "role", "engineer"),
        ],
    ),
    (
        "I'm a plumber living in Leeds with my husband Karl.",
        [
            ("Ada is a plumber living in Leeds with Ada's husband Karl.", "Ada", "role", "plumber"),
            ("Ada is living in Leeds.", "Ada", "home", "Leeds"),
            ("Ada's husband is Karl.", "Ada", "partner", "Karl"),
        ],
    ),
    (
        "I love hiking and hate running.",
        [
            ("Ada loves hiking.", "Ada", "likes", "hiking"),
            ("Ada hates running.", "Ada", "dislikes", "running"),
        ],
    ),
    (
        "I'm a plumber living in Leeds with my sons Karl and Jon.",
        [
            (
                "Ada is a plumber living in Leeds with Ada's sons Karl and Jon.",
                *("Ada", "role", "plumber"),
            ),
            ("Ada is living in Leeds.", "Ada", "home", "Leeds"),
            ("Ada's sons are Karl and Jon.", "Ada", "family", "sons Karl and Jon"),
        ],
    ),
    (
        "I'm vegan and allergic to soy.",
        [
            ("Ada is vegan.", "Ada", "diet", "vegan"),
            ("Ada is allergic to soy.", "Ada", "health", "allergic to soy"),
        ],
    ),
    (
        "We've got a pony and a goat.",
        [
            ("Ada and others have got a pony.", "Ada", "pet", "pony"),
            ("Ada and others have a goat.", "Ada", "pet", "goat"),
        ],
    ),
    (
        "I grew up in Madrid but live in Oslo now.",
        [
            ("Ada grew up in Madrid.", "Ada", "origin", "Madrid"),
            ("Ada lives in Oslo now.", "Ada", "home", "Oslo"),
        ],
    ),
    (
        "Last year I moved to Leeds and bought a boat.",
        [
            ("Last year (2025-01-01 to 2025-12-31) Ada moved to Leeds.", "Ada", "home", "Leeds"),
            ("Ada bought a boat.", "Ada", "possession", "boat"),
        ],
    ),
    (
        "I'm a midwife and my husband Tom is a baker.",
        [
            ("Ada is a midwife.", "Ada", "role", "midwife"),
            ("Ada's husband Tom is a baker.", "Tom", "role", "baker"),
            ("Ada's husband is Tom.", "Ada", "partner", "Tom"),
        ],
    ),
    (
        "Maria speaks Dutch and plays the cello.",
        [
            ("Ada: Maria speaks Dutch", "Maria", "language", "Dutch"),
            ("Ada: Maria plays the cello.", "Maria", "skill", "playing the cello"),
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_each_claim_is_told_for_itself(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


#: What belongs to another, to a wish or to a denial is not the speaker's.
ONE = [
    ("I want to move to Oslo and work as a nurse.", "plan", "move to Oslo"),
    ("I have two brothers who live in Porto and work as vets.", "family", "two brothers"),
    ("Maria has a sister who lives in Rome and works at Siemens.", "family", "sister"),
    ("I don't like running and hate swimming.", "dislikes", "running"),
    ("I can speak French and play the piano.", "language", "French"),
    ("I hope to live in Porto and teach yoga.", "plan", "live in Porto and teach yoga"),
    ("I love tea and cake.", "likes", "tea and cake"),
    ("I like to sing and dance.", "likes", "sing and dance"),
    ("I also work as a lifeguard.", "work", "as lifeguard"),
    ("I have a friend with a cat and a dog.", "", ""),
    ("I'm friends with a nurse and a teacher.", "", ""),
    ("I'm a fan of music from Cuba.", "likes", "music from Cuba"),
    ("I live in Ghent and that is fine.", "home", "Ghent"),
    ("I'm fluent in English, Spanish and French.", "language", "English and Spanish and French"),
    ("I'm learning Spanish and French.", "activity", "learning Spanish and French"),
    ("I'm interested in vegan and gluten free food.", "likes", "vegan and gluten free food"),
    ("I like to meditate and practise Buddhism.", "likes", "meditate and practise Buddhism"),
    ("I have two dogs, a poodle and a beagle.", "pet", "two dogs, a poodle and a beagle"),
    ("I like big watches, like Seiko.", "likes", "big watches"),
]


@pytest.mark.parametrize(("text", "attribute", "value"), ONE)
def test_what_only_looks_like_another_claim_is_none(text: str, attribute: str, value: str) -> None:
    expected = [("Ada", attribute, value)] if attribute else []
    assert [
        (whose if whose != "Maria" else "Ada", which, what) for _, whose, which, what in told(text)
    ] == expected


def test_of_a_student_nobody_says_that_they_work_there() -> None:
    assert [which for _, _, which, _ in told("I'm a student at Delft.")] == ["role"]


def test_nobody_is_told_of_where_nobody_speaks() -> None:
    assert told("I live in Turin and work as a nurse.", speaker=None) == []


def test_a_clause_of_many_parts_is_read_in_a_moment() -> None:
    for words in (
        "I live in Turin" + " and work as a nurse" * 9_000,
        "I am 32" + ", a nurse" * 9_000,
    ):
        begun = time.process_time()
        stated(words, speaker="Ada", at_ms=AT)
        assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("May I remind you that Maria has a nut allergy?", ("Maria", "health", "nut allergy")),
        ("Did I tell you that I live in Graz now?", ("Ada", "home", "Graz")),
        ("Could I remind you that Maria is vegan?!", ("Maria", "diet", "vegan")),
    ],
)
def test_what_is_told_in_the_form_of_a_question_has_no_mark_and_is_claimed(
    text: str, claim: tuple[str, str, str]
) -> None:
    ((words, *found),) = told(text)
    assert "?" not in words
    assert tuple(found) == claim


@pytest.mark.parametrize("text", ["Does Maria have a nut allergy?", "Do I live in Graz?"])
def test_what_is_asked_is_not_claimed(text: str) -> None:
    assert told(text) == []
