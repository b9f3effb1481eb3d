"""How long facts hold, as a reader would say."""

from __future__ import annotations

import pytest

from recollect.text.stability import CONFIDENCE_THRESHOLD, stability


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ada was born on 12 March 1990.", "static"),
        ("Ada's birthday is on 12 March.", "static"),
        ("Ada is allergic to walnuts.", "static"),
        ("Ada grew up in Porto.", "static"),
        ("Ada is from Norway.", "static"),
        ("Tom is Ada's brother.", "static"),
        ("Ada sold the boat on Monday (2026-01-05).", "static"),
        ("Ada broke Ada's leg.", "static"),
        ("Ada visited Oslo in May.", "static"),
        ("Ada graduated from MIT in 2012.", "static"),
        ("Ada lives in Lisbon.", "semi_dynamic"),
        ("Ada works at Google.", "semi_dynamic"),
        ("Ada likes green tea.", "semi_dynamic"),
        ("Ada has two cats.", "semi_dynamic"),
        ("Ada is a nurse.", "semi_dynamic"),
        ("Ada plays the harp every Sunday.", "semi_dynamic"),
        ("Ada is vegan.", "semi_dynamic"),
        ("Ada's favourite colour is green.", "semi_dynamic"),
        ("Ada is living in Lisbon.", "semi_dynamic"),
        ("Ada is currently in London.", "dynamic"),
        ("Ada is sick.", "dynamic"),
        ("Ada is on vacation this week.", "dynamic"),
        ("Ada is reading a book about whales.", "dynamic"),
        ("Ada will visit Oslo in June.", "dynamic"),
        ("Ada plans to sell the boat.", "dynamic"),
        ("Ada has an appointment tomorrow.", "dynamic"),
        ("Ada is looking for a flat.", "dynamic"),
    ],
)
def test_what_holds_how_long(text: str, kind: str) -> None:
    found = stability(text, None)
    assert found.kind == kind
    assert CONFIDENCE_THRESHOLD <= found.confidence <= 1


@pytest.mark.parametrize(
    ("attribute", "kind", "days"),
    [("birthday", "static", None), ("home", "semi_dynamic", 365), ("phone", "semi_dynamic", 365)],
)
def test_a_slot_says_it_whatever_the_words(attribute: str, kind: str, days: int | None) -> None:
    found = stability("It is as it is now.", attribute)
    assert (found.kind, found.ttl_days) == (kind, days)


def test_where_no_word_tells_it_is_not_sure() -> None:
    assert stability("Kelp, Room 7, the red door.", None).confidence < CONFIDENCE_THRESHOLD


def test_a_plan_holds_for_a_month() -> None:
    assert stability("Ada is going to Rome.", None).ttl_days == 30
