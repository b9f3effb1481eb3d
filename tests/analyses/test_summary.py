"""Summaries: which sentences stand for an episode, and where each is from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.streams.analyses.summary import (
    MOST_SENTENCES,
    MOST_WORDS,
    summarise,
    summary_text,
)
from recollect.streams.analyses.utterances import Utterance

DAY = 86_400_000


def said(*texts: str, speaker: str = "Ada") -> list[Utterance]:
    return [Utterance(number, number * DAY, speaker, text) for number, text in enumerate(texts)]


def summary(utterances: list[Utterance]) -> list[str]:
    return [sentence.text for sentence in summarise(utterances)]


def test_what_is_told_is_chosen_over_remarks() -> None:
    told = "I adopted a grey kitten from the shelter in Leeds."
    assert summary(said("Wow, so cool!", told, "Haha yes, amazing.")) == [told]


def test_what_is_said_again_in_other_words_comes_once() -> None:
    chosen = summary(
        said(
            "The boiler in the cellar broke on Monday.",
            "So the boiler broke on Monday, in the cellar.",
            "My sister opens a bakery in Porto.",
        )
    )
    assert chosen == [
        "The boiler in the cellar broke on Monday.",
        "My sister opens a bakery in Porto.",
    ]


def test_questions_are_not_chosen() -> None:
    assert summary(said("Did the plumber repair the boiler in the cellar?")) == []


def test_an_assistant_is_chosen_only_for_more() -> None:
    own = Utterance(0, 0, "Ada", "I ordered oak shelves for the study.")
    other = Utterance(1, 0, "bot", "I ordered pine shelves for the attic.", by_assistant=True)
    assert [sentence.speaker for sentence in summarise([other, own], most_sentences=1)] == ["Ada"]


def test_the_order_of_the_messages_is_kept_and_each_day_named() -> None:
    utterances = said(
        "My sister opens a bakery in Porto.", "The boiler in the cellar broke on Monday."
    )
    assert summary_text(summarise(utterances), {}) == (
        "1970-01-01\n"
        "Ada: My sister opens a bakery in Porto.\n"
        "1970-01-02\n"
        "Ada: The boiler in the cellar broke on Monday."
    )


def test_the_day_is_that_of_the_sender() -> None:
    late = [Utterance(7, 23 * 3_600_000, "Ada", "The boiler in the cellar broke.", 120)]
    assert summary_text(summarise(late), {7: 120}).splitlines()[0] == "1970-01-02"


def test_nothing_is_said_of_an_empty_episode() -> None:
    assert summarise([]) == []
    assert summary_text([], {}) == ""


@given(st.lists(st.text(st.sampled_from("abcdef .!?\n"), max_size=200), max_size=20))
def test_each_sentence_is_in_its_message_and_the_limits_hold(texts: list[str]) -> None:
    chosen = summarise(said(*texts))
    assert len(chosen) <= MOST_SENTENCES
    assert sum(len(sentence.text.split()) for sentence in chosen) <= MOST_WORDS
    assert all(texts[it.number][it.start : it.end] == it.text for it in chosen)
    places = [(it.number, it.start) for it in chosen]
    assert places == sorted(set(places))


def test_a_long_episode_costs_no_more_than_its_length() -> None:
    # A quadratic choice would not end within the time that a test has.
    texts = [f"Abc{place} Bcd{place} Cde{place}." for place in range(20_000)]
    assert len(summarise(said(*texts))) == MOST_SENTENCES
