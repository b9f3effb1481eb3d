"""A vector depends on its text and its model: not on company, workers or the day."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from tests.encoder.random_model import BGE_QUERY_PREFIX
from tests.encoder.texts import PASSAGES


@pytest.fixture(params=[pytest.param("float", marks=pytest.mark.slow), "int8"])
def precision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_company_does_not_change_a_vector(minilm, precision):
    encoder = minilm[precision]
    alone = np.stack([encoder.encode([text])[0] for text in PASSAGES])
    together = encoder.encode(PASSAGES)
    assert np.array_equal(alone, together)
    order = list(range(len(PASSAGES)))
    random.Random(5).shuffle(order)
    shuffled = encoder.encode([PASSAGES[row] for row in order] * 2)
    assert np.array_equal(shuffled, np.concatenate([together[order], together[order]]))


def test_the_number_of_workers_does_not_change_a_vector(
    minilm, minilm_pins, model_cache, precision
):
    expected = minilm[precision].encode(PASSAGES)
    for workers in (1, 3, 8):
        encoder = load(minilm_pins[precision], cache=model_cache, workers=workers)
        assert np.array_equal(encoder.encode(PASSAGES), expected)
        encoder.close()


AGAIN = """
import hashlib, sys
from pathlib import Path
import msgspec
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.pin import Pin
from tests.encoder.texts import PASSAGES
pin = msgspec.json.decode(sys.argv[1], type=Pin)
print(hashlib.sha256(load(pin, cache=Path(sys.argv[2])).encode(PASSAGES).tobytes()).hexdigest())
"""


def test_another_process_gets_the_same_bits(minilm, minilm_pins, model_cache, precision):
    pin = msgspec.json.encode(minilm_pins[precision]).decode()
    again = subprocess.run(
        [sys.executable, "-c", AGAIN, pin, str(model_cache)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    here = minilm[precision].encode(PASSAGES).tobytes()
    assert again.stdout.strip() == hashlib.sha256(here).hexdigest()


def test_a_query_is_its_prefix_and_its_text(random_bge, precision):
    encoder = random_bge[precision]
    (expected,) = encoder.encode([BGE_QUERY_PREFIX + "where?"])
    assert np.array_equal(encoder.encode_query("where?"), expected)


def test_a_bulk_keeps_its_order(load_tiny):
    encoder = load_tiny()
    bulk = PASSAGES * 20
    alone = [encoder.encode([text])[0] for text in PASSAGES] * 20
    assert np.array_equal(encoder.encode(bulk), alone)
    assert np.array_equal([each.pooled for each in encoder.encode_tokens(bulk)], alone)


def test_a_text_that_cannot_be_read_does_not_hold_up_the_next_bulk(load_tiny):
    encoder = load_tiny()
    with pytest.raises(TypeError):
        encoder.encode([*PASSAGES, None, *PASSAGES])
    assert len(encoder.encode(PASSAGES)) == len(PASSAGES)


def test_token_vectors_come_with_the_very_vector_that_encode_gives(minilm, precision):
    encoder = minilm[precision]
    vectors = encoder.encode(PASSAGES)
    tokens = encoder.encode_tokens(PASSAGES)
    assert np.array_equal(np.stack([each.pooled for each in tokens]), vectors)
    for text, each in zip(PASSAGES, tokens, strict=True):
        assert len(each.ids) == len(each.offsets) == len(each.vectors)
        assert (each.offsets[:, 0] <= each.offsets[:, 1]).all()
        assert each.offsets.max(initial=0) <= len(text)


def test_the_tokens_of_a_query_are_those_after_its_prefix(random_bge, precision):
    encoder = random_bge[precision]
    found = encoder.encode_query_tokens("where?")
    (whole,) = encoder.encode_tokens([BGE_QUERY_PREFIX + "where?"])
    count = len(found.ids)
    assert 0 < count < len(whole.ids)
    assert found.offsets[0, 0] == 0
    assert found.offsets[-1, 1] == len("where?")
    assert np.array_equal(found.vectors, whole.vectors[-count:])
    assert np.array_equal(found.pooled, encoder.encode_query("where?"))


def test_no_text_gives_no_vector(minilm, precision):
    assert minilm[precision].encode([]).shape == (0, 384)
    assert minilm[precision].encode_tokens([]) == []


def test_a_text_without_pieces_has_no_token_vectors(minilm, precision):
    (empty,) = minilm[precision].encode_tokens([""])
    assert empty.vectors.shape == (0, 384)
    assert empty.offsets.shape == (0, 2)


anything = st.text(st.characters(), max_size=300)


@settings(max_examples=150, deadline=None)
@given(texts=st.lists(anything, max_size=5), rest=st.integers(0, 5))
def test_any_text_gets_a_unit_vector_of_its_own(load_tiny, texts, rest):
    encoder = load_tiny("int8")
    vectors = encoder.encode(texts)
    assert vectors.shape == (len(texts), 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(encoder.encode(texts[rest:]), vectors[rest:])


def test_a_lone_surrogate_counts_as_a_replacement_character(minilm):
    broken, replaced = minilm["int8"].encode(["half \ud83d an emoji", "half \ufffd an emoji"])
    assert np.array_equal(broken, replaced)


@pytest.mark.parametrize(
    "text",
    ["hello there " * 90_000, " " * 1_000_000, "a" * 1_000_000, "記" * 350_000, "😀" * 260_000],
    ids=["words", "spaces", "one word", "no spaces", "emoji"],
)
def test_a_megabyte_of_text_does_not_take_minutes(minilm, text):
    """It takes less than a second; what grew with its square would take hours."""
    began = time.process_time()
    minilm["int8"].encode([text])
    assert time.process_time() - began < 60


def test_a_closed_encoder_refuses_to_work(tiny_directory, tmp_path):
    encoder = load(install(cache=tmp_path, directory=tiny_directory), cache=tmp_path)
    encoder.close()
    with pytest.raises(RuntimeError):
        encoder.encode(["late"])
