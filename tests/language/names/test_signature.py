"""Near-duplicates share a signature; sentences that say something else do not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.streams.language.names.signature import signature
from tests.language.stating import stated

FRIDAY = int(datetime(2026, 5, 8, 13, 56, tzinfo=UTC).timestamp() * 1000)
SATURDAY = FRIDAY + 86_400_000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I moved to Berlin.", "i MOVED to berlin!!"),
        ("I'm vegan", "I am vegan."),
        ("I don't like tea", "I do not like tea"),
        ("I can't swim", "I cannot swim"),
        ("It’s a dog", "It's a dog"),
        ("Tom likes dogs", "tom like dog"),
        ("The cities are big", "Cities are really big"),
        ("I have moved to Berlin", "I moved to Berlin"),
        ("It cost 1,000 euros", "It cost 1000 euros"),
    ],
)
def test_near_duplicates_share_it(one: str, other: str) -> None:
    assert signature(one) == signature(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I am in Room 101", "I am in Room 102"),
        ("I like tea", "I don't like tea"),
        ("I like tea", "I never like tea"),
        ("I moved to Berlin", "I moved from Berlin"),
        ("I moved from Rome to Berlin", "I moved from Berlin to Rome"),
        ("Tom hit Bob", "Bob hit Tom"),
        ("I was happy", "I am happy"),
        ("I will move to Berlin", "I moved to Berlin"),
        ("I can swim", "I swim"),
        ("You like tea.", "You like tea?"),
        ("I met Adam", "I met Adams"),
        ("I met Ana", "I met Anna"),
        ("I know C++", "I know C#"),
        ("It is -5 outside", "It is 5 outside"),
        ("It costs $5", "It costs 5%"),
        ("I like tea", "You like tea"),
    ],
)
def test_other_sentences_do_not(one: str, other: str) -> None:
    assert signature(one) != signature(other)


def test_the_speaker_belongs_to_it() -> None:
    assert signature("I like tea", speaker="Ada") == signature("i like tea!", speaker=" ADA ")
    assert signature("I like tea", speaker="Ada") != signature("I like tea", speaker="Bob")
    assert signature("I like tea", speaker="Ada") == "ada: i like tea"


def test_a_day_counts_as_the_day_it_means() -> None:
    def key(text: str, at_ms: int) -> str:
        return stated(text, speaker="Ada", at_ms=at_ms).statements[0].signature

    assert key("I moved to Berlin yesterday.", FRIDAY) == "ada: i moved to berlin 2026-05-07"
    assert key("I moved to Berlin today.", FRIDAY) == key("I moved to Berlin yesterday", SATURDAY)
    assert key("I moved to Berlin today.", FRIDAY) != key("I moved to Berlin today.", SATURDAY)
    assert key("I ran last week.", FRIDAY) == "ada: i ran 2026-04-27/2026-05-03"


def test_a_long_one_ends_in_a_digest_of_the_rest() -> None:
    text = "word " * 200
    one, other = signature(text + "one"), signature(text + "other")
    assert one != other
    assert len(one) == len(other) == 240


@given(st.text())
@example("İ#")
@example("a0-s")
def test_signing_a_signature_changes_nothing(text: str) -> None:
    once = signature(text)
    assert signature(once) == once


WORDS = (
    "goes dogs boxes sos ins cities Adams glasses James don't can't I'm won't gonna the a not "
    "1,000 $5 -3 20% C++ C# yesterday 2026-05-04/2026-05-10 let's what's Tom's ? … ¼ \ufb01"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12))
def test_signing_a_signature_of_words_changes_nothing(words: list[str]) -> None:
    once = signature(" ".join(words))
    assert signature(once) == once
