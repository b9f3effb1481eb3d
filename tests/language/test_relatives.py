"""Which relatives and friends a text mentions, and which names are theirs."""

from __future__ import annotations

import re

import pytest

from recollect.text.relatives import called_in, name_of, relatives_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My sister rang.", ["my|sister"]),
        ("Our oldest friend rang.", ["our|friend"]),
        ("Ask your brother-in-law.", ["your|brother-in-law"]),
        ("My mother in law rang.", ["my|mother-in-law"]),
        ("We met my uncle and aunt.", ["my|uncle", "my|aunt"]),
        ("My baby brother rang.", ["my|brother"]),
        # Not a relative of the speaker.
        ("My uncle and his wife rang.", ["my|uncle"]),
        ("Her sister rang.", []),
        ("My sisterhood", []),
        ("The wife of my cousin rang.", []),
        ("My cousin's wife rang.", []),
        ("My cousins rang.", []),
    ],
)
def test_a_relative_is_mentioned_with_whose_it_is(text: str, found: list[str]) -> None:
    mentioned = [each for each in relatives_in(text) if not (each.is_plural or each.of_relative)]
    assert [f"{each.whose}|{each.word}" for each in mentioned] == found


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("A scarf for Dad", ["dad"]),
        ("Granny likes it.", ["granny"]),
        ("A scarf for my dad", []),
        ("Her old mum and dad", []),
        ("Ada's dad", []),
    ],
)
def test_a_word_alone_may_be_the_name_of_a_parent(text: str, called: list[str]) -> None:
    assert [each.word for each in called_in(text)] == called


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My cousin Eve sings.", "Eve"),
        ("My eldest cousin Eve sings.", "Eve"),
        ("My cousin is called Eve.", "Eve"),
        ("My cousin's name is Eve.", "Eve"),
        ("My cousin, called Eve, sings.", "Eve"),
        ("My cousin, Eve, sings.", "Eve"),
        ("Eve is my cousin.", "Eve"),
        ("Eve, my cousin, sings.", "Eve"),
        ("We met Eve (my cousin).", "Eve"),
        # Somebody else's name, or whoever is addressed.
        ("My cousin met Eve.", None),
        ("My cousin's Eve sings.", None),
        ("My cousin called Eve.", None),
        ("My cousin, Eve, and Tom sing.", None),
        ("Eve, my cousin sings.", None),
        ("Eve is my cousin's boss.", None),
        ("My cousin, Eve and I sing.", None),
    ],
)
def test_a_name_beside_a_relative_may_be_the_relatives(text: str, name: str | None) -> None:
    (cousin,) = relatives_in(text)
    names = [each.span() for each in re.finditer("Eve", text)]
    found = name_of(text, cousin, names)
    assert name == (None if found is None else text[slice(*found)])


def test_a_relative_with_a_name_beside_it_has_no_other() -> None:
    text = "Eve is my cousin Tom's wife."
    (cousin,) = relatives_in(text)
    names = [each.span() for each in re.finditer("Eve|Tom", text)]
    found = name_of(text, cousin, names)
    assert found is not None
    assert text[slice(*found)] == "Tom"
