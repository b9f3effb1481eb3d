"""The vectors are those of sentence-transformers (tests/encoder/make_reference.py made them)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from bench.encoder.encode import sentences
from recollect.streams.encoder.catalog import Precision
from recollect.streams.encoder.encoder import Encoder
from tests.encoder.texts import PASSAGES, QUERIES, TOKENS_OF

DATA = Path(__file__).parent / "data"
Reference = dict[str, npt.NDArray[np.float32]]


def reference(name: str) -> Reference:
    with np.load(DATA / f"{name}.npz") as data:
        return {key: data[key] for key in data.files}


def cosines(
    found: npt.NDArray[np.float32], expected: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    one, other = found.astype(np.float64), expected.astype(np.float64)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.asarray((one * other).sum(axis=1) / lengths)


@pytest.fixture(scope="module")
def passages(
    minilm: dict[Precision, Encoder], random_bge: dict[Precision, Encoder]
) -> dict[tuple[str, Precision], npt.NDArray[np.float32]]:
    """The vectors of the passages, by model and precision."""
    encoders = {"minilm": minilm, "random_bge": random_bge}
    return {
        (name, precision): encoder.encode(PASSAGES)
        for name, of_precision in encoders.items()
        for precision, encoder in of_precision.items()
    }


@pytest.fixture(params=["minilm", "random_bge"])
def family(request: pytest.FixtureRequest) -> tuple[dict[str, Encoder], Reference]:
    """Mean pooling with real weights, and CLS pooling with bge-small's shape."""
    return request.getfixturevalue(request.param), reference(request.param)


@pytest.mark.parametrize("name", ["minilm", "random_bge"])
def test_float_vectors_of_passages_are_the_reference(passages, name):
    found, expected = passages[name, "float"], reference(name)["passages"]
    assert found.dtype == np.float32
    assert cosines(found, expected).min() >= 0.9999
    np.testing.assert_allclose(found, expected, atol=2e-4)


def test_queries_carry_the_prefix_that_the_reference_was_given(family):
    encoders, expected = family
    found = np.stack([encoders["float"].encode_query(text) for text in QUERIES])
    assert cosines(found, expected["queries"]).min() >= 0.9999


def test_float_token_vectors_are_the_reference_and_lie_where_the_offsets_say(family):
    encoders, expected = family
    (found,) = encoders["float"].encode_tokens([TOKENS_OF])
    assert found.vectors.shape == expected["tokens"].shape
    assert cosines(found.vectors, expected["tokens"]).min() >= 0.9999
    np.testing.assert_allclose(found.vectors, expected["tokens"], atol=2e-3)
    pieces = [TOKENS_OF[start:end] for start, end in found.offsets]
    assert "".join(pieces) == TOKENS_OF.replace(" ", "")


def test_int8_of_ordinary_sentences_is_float_within_a_hundredth(minilm):
    # Float is held to the reference above, so it may stand for it over more texts.
    texts = sentences(200)
    similar = cosines(minilm["int8"].encode(texts), minilm["float"].encode(texts))
    assert similar.mean() >= 0.99
    assert similar.min() >= 0.97


def test_int8_of_odd_texts_stays_close_to_the_reference(passages):
    found = passages["minilm", "int8"]
    assert cosines(found, reference("minilm")["passages"]).mean() >= 0.985


def test_int8_of_the_bge_shape_is_close_to_float(passages):
    # Random weights have no structure that survives rounding well, so the bar is lower.
    found = passages["random_bge", "int8"]
    assert cosines(found, reference("random_bge")["passages"]).mean() >= 0.98


def test_every_vector_has_length_one(passages):
    for vectors in passages.values():
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_the_names_say_model_and_precision(minilm, random_bge):
    assert [encoder.model for encoder in minilm.values()] == [
        "all-MiniLM-L6-v2/float",
        "all-MiniLM-L6-v2/int8",
    ]
    assert {encoder.dimension for encoder in (*minilm.values(), *random_bge.values())} == {384}
