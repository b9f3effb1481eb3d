"""Texts cut into words and sentences, one text after the other."""

from __future__ import annotations

import sys
import unicodedata

from streams.reader.cut_texts import CutTexts

TEXTS = ["Ada's cat (a tabby) sleeps. Bo reads!", "", " \n ", "...wait: 3.5 km", "so"]


def test_words_and_sentences_are_counted_through_all_texts() -> None:
    cut = CutTexts(TEXTS)
    line = "\x00".join(TEXTS)
    assert [line[start:end] for start, end in cut.places.tolist()] == cut.words
    assert [line[start:end] for start, end in cut.sentences.tolist()] == [
        "Ada's cat (a tabby) sleeps.",
        "Bo reads!",
        "...wait: 3.5 km",
        "so",
    ]
    assert [cut.words[first] for first in cut.firsts[:1] + cut.firsts[3:5]] == ["Ada", "...", "so"]
    assert cut.firsts[-1] == len(cut.words)


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
