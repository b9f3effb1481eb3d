"""The cached encoder, if there is one; benchmarks download nothing."""

from __future__ import annotations

import os
from pathlib import Path

from recollect.streams.encoder.cache import model_directory, read_graph
from recollect.streams.encoder.catalog import REGISTRY
from recollect.streams.encoder.encoder import Encoder
from recollect.streams.encoder.installing import install
from recollect.streams.encoder.loading import load

MISSING = "no encoder is in the cache; `recollect init` installs one"


def cache() -> Path:
    """Return the directory of model files: RECOLLECT_CACHE, else ~/.cache/recollect."""
    return Path(os.environ.get("RECOLLECT_CACHE") or "~/.cache/recollect").expanduser()


def cached_name() -> str | None:
    """Return the name of the first registered encoder that is cached, or None."""
    for name, model in REGISTRY.items():
        if read_graph(model_directory(cache(), model.checksums), "int8") is not None:
            return name
    return None


def cached_encoder() -> Encoder | None:
    """Return the first cached encoder, loaded and warmed up, or None."""
    name = cached_name()
    if name is None:
        return None
    encoder = load(install(name, cache=cache()), cache=cache())
    encoder.encode(["warm", "up"])
    return encoder
