"""A cross-encoder's score is what its weights say of a pair, worked out here with numpy alone."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from recollect.streams.encoder.encoder import CrossEncoder
from recollect.streams.encoder.encoder_errors import EncoderMissing, EncoderUnsupported
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load, load_reranker
from recollect.streams.encoder.pin import Pin
from tests.encoder import random_model

QUESTION = "who owns a dog"
TEXTS = [
    "ada owns a dog",
    "it rained",
    "",
    "the dog " * 100,
    "\u03b1\u03b2\u03b3 \U0001f415 d\udc00g",
]
Tensors = dict[str, npt.NDArray[np.float32]]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_model.write_cross_encoder(
        tmp_path_factory.mktemp("cross") / "cross", seed=11, shape=random_model.TINY
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cross-cache")


def opened(directory: Path, cache: Path, **fields: Any) -> CrossEncoder:
    return load_reranker(
        install(cache=cache, directory=directory, role="reranker", **fields), cache=cache
    )


def test_a_score_is_the_logistic_of_the_logit(directory: Path, cache: Path) -> None:
    scores = opened(directory, cache, precision="float").score(QUESTION, TEXTS)
    tensors = {
        name.removeprefix("bert."): tensor
        for name, tensor in load_file(directory / "model.safetensors").items()
    }
    expected = [logistic(logit(tensors, *pieces(directory, QUESTION, text))) for text in TEXTS]
    assert len({round(score, 4) for score in expected}) == len(TEXTS)
    np.testing.assert_allclose(scores, expected, atol=1e-4)


def test_int8_is_close(directory: Path, cache: Path) -> None:
    floats = opened(directory, cache, precision="float").score(QUESTION, TEXTS)
    np.testing.assert_allclose(opened(directory, cache).score(QUESTION, TEXTS), floats, atol=0.1)


def test_a_pair_scores_the_same_in_any_company(directory: Path, cache: Path) -> None:
    encoder = opened(directory, cache)
    together = encoder.score(QUESTION, TEXTS)
    alone = [encoder.score(QUESTION, [text])[0] for text in TEXTS]
    assert together.tolist() == alone
    assert encoder.score(QUESTION, []).shape == (0,)


def test_it_is_pinned_beside_an_encoder_and_brought_again_by_name(
    directory: Path, cache: Path, tmp_path: Path
) -> None:
    pin = install(cache=cache, directory=directory, role="reranker")
    assert pin.role == "reranker"
    with pytest.raises(EncoderMissing, match=r"reranker, .* recollect init"):
        load_reranker(pin, cache=tmp_path)
    # The same files may serve as an encoder: neither takes the other's graph.
    encoder: Pin = install(cache=cache, directory=directory)
    assert load(encoder, cache=cache).encode(["dog"]).shape == (1, 32)
    assert load_reranker(pin, cache=cache).score("dog", ["dog"]).shape == (1,)


def test_a_model_without_a_head_of_one_class_is_refused(
    directory: Path, tmp_path: Path, cache: Path
) -> None:
    plain = random_model.write(tmp_path / "plain", seed=3, shape=random_model.TINY)
    with pytest.raises(EncoderUnsupported, match="pooler"):
        install(cache=cache, directory=plain, role="reranker")
    many = random_model.write_cross_encoder(tmp_path / "many", seed=3, shape=random_model.TINY)
    tensors = load_file(many / "model.safetensors")
    tensors["classifier.weight"] = np.repeat(tensors["classifier.weight"], 3, axis=0)
    save_file(tensors, many / "model.safetensors")
    with pytest.raises(EncoderUnsupported, match="classifier"):
        install(cache=cache, directory=many, role="reranker")


def pieces(directory: Path, question: str, text: str) -> tuple[list[int], list[int]]:
    """Return the ids and segments of a pair of at most 64 pieces: the longer one is cut."""
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    one, other = (
        tokenizer.encode(part.replace("\udc00", "\ufffd"), add_special_tokens=False).ids
        for part in (question, text)
    )
    other = other[: 64 - 3 - len(one)]
    cls, sep = (tokenizer.get_vocab()[piece] for piece in ("[CLS]", "[SEP]"))
    segments = [0] * (len(one) + 2) + [1] * (len(other) + 1)
    return [cls, *one, sep, *other, sep], segments


def logit(tensors: Tensors, ids: list[int], segments: list[int]) -> float:
    """Return what a BERT of 4 heads with a pooler and a head says (Devlin et al., 2019)."""

    def dense(at: str, hidden: Any) -> Any:
        return hidden @ tensors[f"{at}.weight"].T.astype(np.float64) + tensors[f"{at}.bias"]

    def norm(at: str, hidden: Any) -> Any:
        centred = hidden - hidden.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * tensors[f"{at}.weight"] + tensors[f"{at}.bias"]

    hidden = norm(
        "embeddings.LayerNorm",
        tensors["embeddings.word_embeddings.weight"].astype(np.float64)[ids]
        + tensors["embeddings.position_embeddings.weight"][: len(ids)]
        + tensors["embeddings.token_type_embeddings.weight"][segments],
    )
    size = hidden.shape[1] // 4
    for layer in range(random_model.TINY["layers"]):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            dense(f"{at}.attention.self.{part}", hidden) for part in ("query", "key", "value")
        )
        heads = []
        for head in range(4):
            own = slice(head * size, (head + 1) * size)
            weights = np.exp(query[:, own] @ key[:, own].T / math.sqrt(size))
            heads.append(weights / weights.sum(-1, keepdims=True) @ value[:, own])
        attended = dense(f"{at}.attention.output.dense", np.concatenate(heads, axis=1))
        hidden = norm(f"{at}.attention.output.LayerNorm", attended + hidden)
        wide = dense(f"{at}.intermediate.dense", hidden)
        gelu = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        hidden = norm(f"{at}.output.LayerNorm", dense(f"{at}.output.dense", gelu) + hidden)
    return float(dense("classifier", np.tanh(dense("pooler.dense", hidden[0])))[0])


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))
