"""Which dreams of a model pass the check of their form, whatever it calls."""

from __future__ import annotations

import json

import pytest

from recollect.streams.consolidation.model.dreams import ShownFact, check_dreams, check_evaluation

#: Two pairs of topics, of two facts each.
SHOWN = [
    ShownFact(text, place // 2)
    for place, text in enumerate(
        (
            *("Ada runs 5 km.", "Ada runs alone.", "Ada glazes pots.", "Ada glazes alone in Oslo."),
            *("Ada sails.", "Ada sails far.", "Ada bakes.", "Ada bakes rye."),
        )
    )
]
GOOD = {"bridge": "both are done alone", "insight": "Ada may need quiet.", "facts": [1, 3]}


def dreams(*calls: object) -> list[tuple[str, str]]:
    given = [("dream", json.dumps(each)) for each in calls]
    return [(each.insight, str(each.facts)) for each in check_dreams(given, SHOWN)]


def test_a_dream_of_two_topics_passes_once() -> None:
    assert dreams(GOOD, GOOD) == [("Ada may need quiet.", "(1, 3)")]
    known = GOOD | {"insight": "Ada may run 5 km in Oslo.", "facts": [3, 0]}
    assert dreams(known) == [("Ada may run 5 km in Oslo.", "(0, 3)")]


@pytest.mark.parametrize(
    "change",
    [
        {"facts": []},
        {"facts": [0, 1]},
        {"facts": [0, 4]},
        {"facts": [0, 2, 8]},
        {"facts": [0, -1]},
        {"facts": "0, 2"},
        {"bridge": " "},
        {"insight": "x" * 401},
        {"insight": "She may meet Tigran there."},
        {"insight": "Ada may run 7 km."},
        {"insight": "Ada may run in Oslo.", "facts": [0, 2]},
    ],
)
def test_a_dream_that_invents_or_misquotes_is_left_out(change: dict[str, object]) -> None:
    assert dreams(GOOD | change) == []


@pytest.mark.parametrize("arguments", ["", "{", "[]", "null", '{"dream": 1}', "[" * 5_000])
def test_nonsense_is_no_dream_and_keeps_none(arguments: str) -> None:
    assert check_dreams([("dream", arguments), ("delete", "{}")], SHOWN) == []
    assert check_evaluation([("keep", arguments)], 1) == {}


def test_the_evaluation_keeps_what_surprises() -> None:
    calls = [
        ("keep", json.dumps({"dream": place, "surprise": surprise}))
        for place, surprise in ((2, 0.9), (0, 0.7), (1, 0.6), (2, 0.1), (3, 0.9), (0, 2.0))
    ]
    assert check_evaluation(calls, 3) == {0: 0.7, 2: 0.9}
