"""Patterns of many words: what they find is what the plain pattern finds."""

from __future__ import annotations

import random
import re

import pytest

from recollect.streams.language.references.person_antecedents import has_pronoun
from recollect.text.word_patterns import any_of

ALTERNATIVES = (
    r"not|no wait|no(?=, )|nothing|sorry|mov(?:e|es|ed)\b(?=.*\bto\b)|(?:small |quick )?update|"
    r"last[- ]minute|(?:is|it['’]s|(?:they |we )are) now|(?:(?:a|an) )?odd|s[|)]t|s\)t|s\|t|"
    r"at\w+|(?:in )fact|i"
)
WORDS = (
    "not no wait no, nothing sorry move moved to small quick update last minute is it's it’s they "
    "we are now a an odd s|t s)t at atom in fact i knot nowait updates , ; - _ é 's"
)
PIECES = WORDS.split(" ")


def found(pattern: str, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(pattern, text)]


def test_each_word_is_found_as_by_a_plain_pattern() -> None:
    chance = random.Random(2)
    plain, fast = rf"\b(?:{ALTERNATIVES})", any_of(ALTERNATIVES)
    seen = 0
    for _ in range(4_000):
        between = chance.choice([" ", " ", "", "\n"])
        text = between.join(chance.choice(PIECES) for _ in range(chance.randint(0, 12)))
        for end in ("", r"\b", r"\b(?! to)"):
            assert found(fast + end, text) == found(plain + end, text)
            seen += len(found(fast + end, text))
    assert seen > 10_000


@pytest.mark.parametrize(
    "alternatives",
    [
        "",
        "a|",
        "[ab]c",
        r"\w+",
        "s?lip",
        "n+o",
        "(?:a|b)?",
        "(?:ab)+c",
        "(?=a)b",
        "(?:a|[b])c",
        "(?:a",
    ],
)
def test_what_begins_with_no_letter_is_refused(alternatives: str) -> None:
    with pytest.raises(ValueError, match=r"letter|group"):
        any_of(alternatives)


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("She left.", True),
        ("I told him", True),
        ("HERS!", True),
        ("they're late", False),
        ("her’s “they”", True),
        ("the other shelf, theyre", False),
        ("Herself", True),
        ("\u017fhe left", True),
        ("we_he", False),
        ("é he", True),
        ("", False),
    ],
)
def test_somebody_is_spoken_of(text: str, speaks: bool) -> None:
    assert has_pronoun(text) is speaks
