"""An outline loads the same model sooner: the same vectors, and never those of damaged files."""

from __future__ import annotations

import json
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from recollect.streams.encoder import cache as store
from recollect.streams.encoder import loading
from recollect.streams.encoder.encoder_errors import EncoderMismatch
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.onnx_encoder import OnnxEncoder
from tests.encoder.texts import PASSAGES


def model_directory(pin, cache):
    return store.model_directory(cache, pin.checksums)


def outlines(pin, cache):
    return sorted(model_directory(pin, cache).glob("*.outline"))


def graph(pin, cache):
    receipt = store.read_graph(model_directory(pin, cache), pin.precision)
    assert receipt is not None
    return model_directory(pin, cache) / receipt.file


def vectors(encoder):
    try:
        return encoder.encode(PASSAGES), encoder.encode_query_tokens(PASSAGES[0]).vectors
    finally:
        encoder.close()


def of_the_graph(pin, cache):
    """Return the vectors of the graph with its weights in it."""
    tokenizer = model_directory(pin, cache) / store.TOKENIZER
    return vectors(
        OnnxEncoder(pin, graph=graph(pin, cache), tokenizer=tokenizer, workers=1),
    )


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("precision", ["int8", "float"])
def test_the_vectors_are_those_of_the_graph_to_the_bit(tiny_directory, tmp_path, precision):
    pin = install(cache=tmp_path, directory=tiny_directory, precision=precision)
    first, second = vectors(load(pin, cache=tmp_path)), vectors(load(pin, cache=tmp_path))
    (made,) = outlines(pin, tmp_path)
    assert made.stat().st_size < graph(pin, tmp_path).stat().st_size
    assert same(first, second)
    assert same(first, of_the_graph(pin, tmp_path))


def test_those_of_a_real_model_as_well(minilm_pins, model_cache):
    pin = minilm_pins["int8"]
    assert same(vectors(load(pin, cache=model_cache)), of_the_graph(pin, model_cache))


@pytest.mark.parametrize("damage", [b"", b"not a graph", None])
def test_a_damaged_outline_is_made_again(tiny_directory, tmp_path, damage):
    pin = install(cache=tmp_path, directory=tiny_directory)
    good = vectors(load(pin, cache=tmp_path))
    (made,) = outlines(pin, tmp_path)
    content = made.read_bytes()
    made.write_bytes(content[:-1] + bytes([content[-1] ^ 1]) if damage is None else damage)
    assert same(vectors(load(pin, cache=tmp_path)), good)
    assert made.read_bytes() == content


def test_a_damaged_graph_is_refused_whatever_its_outline_says(tiny_directory, tmp_path):
    pin = install(cache=tmp_path, directory=tiny_directory)
    load(pin, cache=tmp_path).close()
    path = graph(pin, tmp_path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(EncoderMismatch, match="does not match its checksum"):
        load(pin, cache=tmp_path)


def test_a_damaged_graph_gets_no_outline(tiny_directory, tmp_path):
    pin = install(cache=tmp_path, directory=tiny_directory)
    for made in outlines(pin, tmp_path):
        made.unlink()
    path = graph(pin, tmp_path)
    content = path.read_bytes()
    path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(EncoderMismatch):
        load(pin, cache=tmp_path)
    assert not outlines(pin, tmp_path)


def test_a_cache_that_cannot_be_written_loads_the_graph_itself(
    tiny_directory, tmp_path, monkeypatch
):
    pin = install(cache=tmp_path, directory=tiny_directory)

    def refuse(*_):
        raise PermissionError(13, "read-only")

    monkeypatch.setattr(loading, "write_weightless_graph", refuse)
    for made in outlines(pin, tmp_path):
        made.unlink()
    assert same(vectors(load(pin, cache=tmp_path)), of_the_graph(pin, tmp_path))
    assert not outlines(pin, tmp_path)


PROGRAM = """
import json, sys
from pathlib import Path
import msgspec
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.pin import Pin
load(msgspec.json.decode(sys.argv[1], type=Pin), cache=Path(sys.argv[2])).encode_query("Ada")
print(json.dumps(sorted(sys.modules)))
"""


def test_loading_a_model_that_is_there_builds_and_fetches_nothing(tiny_directory, tmp_path):
    pin = install(cache=tmp_path, directory=tiny_directory)
    load(pin, cache=tmp_path).close()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, msgspec.json.encode(pin).decode(), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(json.loads(done.stdout))
    assert "onnxruntime" in modules
    assert not modules & {"google.protobuf", "safetensors", "urllib.request", "http.client", "ssl"}
