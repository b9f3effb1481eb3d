"""Which of several things of a kind a sentence means."""

from __future__ import annotations

import pytest

from recollect.streams.language.relations.same_things import qualifiers

#: A noun, and sentences of Ada's that name one thing by it each, all different.
DIFFERENT = [
    ("rehearsal", ["The brass rehearsal is at six.", "The strings rehearsal is at eight."]),
    ("recital", ["Otto's recital is on Friday.", "Ivy's recital is on Sunday."]),
    ("train", ["Ada's aunt's train arrives at four.", "Ada's train arrives at nine."]),
    ("fee", ["The fee for the canoe went up.", "The fee for parking is 4 euros."]),
    ("ferry", ["The ferry to Texel costs 30 euros.", "The ferry to Vlieland costs 41 euros."]),
    ("barn", ["The red barn is shut.", "The old stone barn is open."]),
]
#: The same, all of one thing.
SAME = [
    ("rehearsal", ["The brass rehearsal is at six.", "The rehearsal is at seven now."]),
    ("recital", ["Otto's harp recital is on Friday.", "The harp recital for Otto is on Sunday."]),
    ("train", ["Ada's night train leaves at nine.", "The night train leaves at ten."]),
    ("check", ["Ada has booked the check for the van.", "The new van check is on 3 May."]),
    ("check", ["The Friday check is off.", "The van check on Friday (2026-01-23) is off."]),
]


@pytest.mark.parametrize(("noun", "texts"), DIFFERENT)
def test_things_with_other_owners_or_of_another_kind_are_different(
    noun: str, texts: list[str]
) -> None:
    one, other = (qualifiers(each, f"ada's {noun}") for each in texts)
    assert not one.is_same(other)
    assert not other.is_same(one)


@pytest.mark.parametrize(("noun", "texts"), SAME)
def test_a_thing_that_is_named_less_exactly_or_in_another_order_is_the_same(
    noun: str, texts: list[str]
) -> None:
    one, other = (qualifiers(each, f"ada's {noun}") for each in texts)
    assert one.is_same(other)
    assert other.is_same(one)
