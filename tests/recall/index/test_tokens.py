"""Compressed token vectors: which tokens, in how many dimensions, and how exactly."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.projections.embeddings.token_vectors import (
    LEVELS,
    PROJECTED_DIMENSIONS,
    RMS,
    compress,
    content_token_mask,
    decode_levels,
    encode_levels,
    project,
    quantise_int8,
    unpack,
)


def pieces(text: str) -> np.ndarray:
    """Return the offsets of words and of every other visible character, as word pieces have."""
    return np.array(
        [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)], np.int32
    ).reshape(-1, 2)


def kept(text: str) -> list[str]:
    offsets = pieces(text)
    return [text[start:end] for start, end in offsets[content_token_mask(text, offsets)]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I adopted the hound, and it's happy!", ["adopted", "hound", "happy"]),
        ("Ada's dog isn’t here; we don't know.", ["Ada", "dog", "know"]),
        ("WHAT is THE plan?", ["plan"]),
        ("犬は東京で", ["犬は東京で"]),
        ("?!...", []),
        ("the of and", []),
        ("", []),
    ],
)
def test_stop_words_and_punctuation_say_nothing(text: str, words: list[str]) -> None:
    assert kept(text) == words


def test_a_piece_of_a_word_stands_for_itself() -> None:
    # "theist" begins with a stop word, and is none.
    assert content_token_mask("theist", np.array([(0, 3), (3, 6)], np.int32)).tolist() == [
        True,
        True,
    ]


def test_a_projection_keeps_angles() -> None:
    vectors = np.random.default_rng(1).standard_normal((300, 384)).astype(np.float32)
    vectors[1:] += 2 * vectors[0]
    small = project(vectors)
    assert small.shape == (300, PROJECTED_DIMENSIONS)

    def cosines(some: np.ndarray) -> np.ndarray:
        unit: np.ndarray = some / np.linalg.norm(some, axis=1, keepdims=True)
        product: np.ndarray = unit @ unit.T
        return product

    assert np.abs(cosines(vectors) - cosines(small)).mean() < 0.05
    lengths = np.linalg.norm(small, axis=1) / np.linalg.norm(vectors, axis=1)
    assert np.abs(lengths.mean() - 1) < 0.05


def test_few_dimensions_are_kept_as_they_are() -> None:
    vectors = np.random.default_rng(1).standard_normal((3, 8)).astype(np.float32)
    assert np.array_equal(project(vectors), vectors)


@given(st.lists(st.lists(st.floats(-1e3, 1e3, width=32), min_size=4, max_size=4), max_size=8))
def test_codes_are_off_by_no_more_than_a_step(values: list[list[float]]) -> None:
    vectors = np.array(values, np.float32).reshape(-1, 4)
    codes, scales = quantise_int8(vectors)
    back = codes * scales[:, None]
    most = np.abs(vectors).max(axis=1, initial=0)
    # A step is 1/127 of the greatest; a float16 cannot say how small the smallest are.
    assert (np.abs(back - vectors).max(axis=1, initial=0) <= most / 127 + 1e-5).all()


@given(st.integers(0, 5), st.integers(1, 20), st.integers(0, 2**32))
def test_each_number_becomes_the_nearest_level(count: int, kept: int, seed: int) -> None:
    vectors = 3 * np.random.default_rng(seed).standard_normal((count, kept)).astype(np.float32)
    codes, scales = encode_levels(vectors)
    assert codes.shape == (count, -(-kept // 8) * 3)
    found = decode_levels(codes, kept).tolist()
    for vector, scale, levels in zip(vectors.tolist(), scales.tolist(), found, strict=True):
        rms = (sum(number * number for number in vector) / kept) ** 0.5
        # A float16 has so many steps, and none of the smallest is smaller than this.
        assert scale == pytest.approx(rms / RMS, rel=1e-3, abs=2**-24)
        away = [[abs(number / scale - level) for level in LEVELS.tolist()] for number in vector]
        taken = [abs(n / scale - level) for n, level in zip(vector, levels, strict=True)]
        assert taken == pytest.approx([min(each) for each in away], abs=1e-4)


def test_the_levels_are_those_that_are_best_for_a_normal_distribution() -> None:
    """Those of Max (1960), table I, for eight levels, to the whole numbers that they are here."""
    published = [0.2451, 0.7560, 1.344, 2.152]
    assert (LEVELS[4:] / RMS).tolist() == pytest.approx(published, abs=0.02)
    assert LEVELS.tolist() == [-level for level in LEVELS.tolist()][::-1]


def test_a_token_of_nothing_stays_nothing() -> None:
    codes, scales = encode_levels(np.zeros((2, 16), np.float32))
    assert scales.tolist() == [0.0, 0.0]
    assert (decode_levels(codes, 16) * scales[:, None] == 0).all()


def test_what_was_compressed_comes_back() -> None:
    text = "I adopted the hound."
    offsets = pieces(text)
    vectors = np.random.default_rng(2).standard_normal((len(offsets), 8)).astype(np.float32)
    found = unpack(*compress(text, offsets, vectors), 8)
    assert found.units.tolist() == [2]
    expected = vectors[[1, 3]]
    back = decode_levels(found.codes, 8) * found.scales[:, None]
    length = np.linalg.norm(back, axis=1) * np.linalg.norm(expected, axis=1)
    assert ((back * expected).sum(axis=1) / length > 0.96).all()


def test_the_same_text_gives_the_same_bytes_whatever_came_before() -> None:
    text = "Ada adopted a hound."
    offsets = pieces(text)
    vectors = np.random.default_rng(3).standard_normal((len(offsets), 384)).astype(np.float32)
    once = compress(text, offsets, vectors)
    compress("hound", pieces("hound"), vectors[:1])
    assert compress(text, offsets, vectors) == once
    assert len(once.codes) == 3 * PROJECTED_DIMENSIONS * 3 // 8
    assert len(once.scales) == 3 * 2


def units_of(text: str) -> list[int]:
    offsets = pieces(text)
    found = unpack(*compress(text, offsets, np.ones((len(offsets), 8), np.float32)), 8)
    assert found.units.sum() == len(found.codes)
    return [int(count) for count in found.units]


def test_a_long_text_is_taken_apart_at_the_ends_of_sentences() -> None:
    sentence = "stone tree moon river bread boat kite lamp table. "
    assert units_of(sentence * 9) == [81]
    assert units_of(sentence * 10) == [63, 27]
    assert units_of("stone " * 300) == [300]
    assert units_of("") == [0]
