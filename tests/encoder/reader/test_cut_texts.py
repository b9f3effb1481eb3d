"""Texts cut into words and sentences, one text after the other."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams.reader.words.cut_texts import CutTexts
from recollect.streams.reader.words.known_words import looks_in
from recollect.streams.reader.words.word_cutter import words_of
from recollect.streams.reader.words.word_shapes import look_of
from tests.language.test_hostile import TEXTS as HOSTILE

TEXTS = ["Ada's cat (a tabby) sleeps. Bo reads!", "", " \n ", "...wait: 3.5 km", "so"]


def test_words_and_sentences_are_counted_through_all_texts() -> None:
    cut = CutTexts(TEXTS)
    line = "\x00".join(TEXTS)
    words = ["Ada", "'s", "cat", "(", "a", "tabby", ")", "sleeps", ".", "Bo", "reads", "!"]
    words += ["...", "wait", ":", "3.5", "km", "so"]
    assert [line[start:end] for start, end in cut.places.tolist()] == words
    assert cut.looks.tolist() == [look_of(word) for word in words]
    assert [line[start:end] for start, end in cut.sentences.tolist()] == [
        "Ada's cat (a tabby) sleeps.",
        "Bo reads!",
        "...wait: 3.5 km",
        "so",
    ]
    assert [words[first] for first in cut.firsts[:1] + cut.firsts[3:5]] == ["Ada", "...", "so"]
    assert cut.firsts[-1] == len(words)


@settings(max_examples=300)
@given(st.lists(HOSTILE, min_size=1, max_size=5))
def test_texts_are_cut_together_as_each_is_cut_alone(texts: list[str]) -> None:
    cut = CutTexts(texts)
    alone = [words_of(text) for text in texts]
    assert cut.places.tolist() == [
        [base + start, base + end]
        for base, words in zip(cut.bases, alone, strict=True)
        for start, end in words
    ]
    assert cut.looks.tolist() == [
        look_of(text[start:end])
        for text, words in zip(texts, alone, strict=True)
        for start, end in words
    ]
    assert np.diff(cut.firsts).tolist() == [len(words) for words in alone]


def test_a_word_looks_the_same_after_more_words_than_are_kept() -> None:
    text = "Ada's so-called U.S.A. can't"
    before = [each.tolist() for each in looks_in(text)]
    looks_in(" ".join(f"x{number}" for number in range(9_000)) + " y" * 40 + "z" * 40)
    assert [each.tolist() for each in looks_in(text)] == before


def test_a_blank_stands_before_a_word_or_a_text_begins() -> None:
    every = map(chr, range(sys.maxunicode + 1))
    odd = [each for each in every if unicodedata.category(each) in ("Zs", "Zl", "Zp", "Cc", "Cf")]
    texts = [*TEXTS, "".join(f"a{each}b" for each in odd)]
    cut = CutTexts(texts)
    line = "\x00".join(texts)
    spaced = [
        start == 0 or line[start - 1].isspace() or start in cut.bases
        for start, _ in cut.places.tolist()
    ]
    assert cut.spaced.tolist() == spaced
