"""Reading only the beginning of a long text gives the pieces of the whole."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from recollect.streams.encoder.word_pieces import WordPieceTokeniser

words = st.one_of(
    st.text(min_size=1, max_size=8),
    st.sampled_from(["[SEP]", "[CLS", "[MASK]", "e\u0301", "x" * 99, "x" * 101, "記憶", " ", "\n"]),
    st.integers(90, 160).map(lambda size: "ab" * size),
)
texts = st.lists(words, max_size=120).map("".join)


@pytest.fixture(scope="module")
def cutters(tiny_directory) -> tuple[Tokenizer, dict[int, WordPieceTokeniser]]:
    path = tiny_directory / "tokenizer.json"
    sizes = (3, 4, 8, 16, 64)
    return Tokenizer.from_file(str(path)), {size: WordPieceTokeniser(path, size) for size in sizes}


@settings(max_examples=400, deadline=None)
@given(text=texts, size=st.sampled_from([3, 4, 8, 16, 64]))
# 48 characters are read first, and they end in "[SE".
@example(text="a b c d e".ljust(45) + "[SEP] tail", size=8)
@example(text="abcdefgh" * 13 + " tail", size=4)
def test_the_pieces_are_those_of_the_whole_text(cutters, text, size):
    whole, by_size = cutters
    whole.enable_truncation(size)
    expected = whole.encode(text.encode("utf-8", "replace").decode())
    found = by_size[size].tokenise(text.encode("utf-8", "replace").decode())
    assert found.ids[0].tolist() == expected.ids
    assert found.offsets.tolist() == [list(span) for span in expected.offsets[1:-1]]
    assert found.leading_specials == 1


def test_the_length_is_counted_in_pieces_with_the_special_ones(cutters):
    _, by_size = cutters
    assert by_size[16].tokenise("one two three " * 1000).ids.shape == (1, 16)
    assert by_size[16].tokenise("").ids.shape == (1, 2)


def test_offsets_count_characters_even_after_a_lone_surrogate(cutters):
    _, by_size = cutters
    text = "\ud800ab 😀 cd"
    found = by_size[64].tokenise(text)
    assert [text[start:end] for start, end in found.offsets] == ["ab", "😀", "cd"]
