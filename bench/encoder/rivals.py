"""Timed runs of sentence-transformers, in a Python that has it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from bench.kit.encoders import cache
from recollect.streams.encoder import cache as store
from recollect.streams.encoder.pin import Pin

BATCH_SIZES = (8, 16, 32, 64)
BATCHES = "batches of"
_CHILD = Path(__file__).with_name("rival.py")

Vectors = npt.NDArray[np.float32]


class Times(NamedTuple):
    """Elapsed seconds and processor seconds; other load affects processor seconds less."""

    wall: float
    cpu: float


#: Encodes all texts once, and returns the time.
Lap = Callable[[], Times]


@contextmanager
def rival(
    python: str, pin: Pin, texts: Sequence[str], scratch: Path
) -> Iterator[tuple[Vectors, dict[str, Lap]]]:
    """Yield the vectors of sentence-transformers, and a timed run for each batch size."""
    _make_model_directory(pin, scratch / "model")
    (scratch / "texts").write_text(json.dumps(list(texts)), encoding="utf-8")
    arguments = [str(scratch / name) for name in ("model", "texts", "vectors.npy")]
    # Only our own process is limited to one numpy thread.
    threads = {key: value for key, value in os.environ.items() if key != "OPENBLAS_NUM_THREADS"}
    child = subprocess.Popen(
        [python, str(_CHILD), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=threads,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    asked, answered = child.stdin, child.stdout

    def lap(size: int) -> Times:
        print(size, file=asked, flush=True)
        return Times(*map(float, answered.readline().split()))

    try:
        if not answered.readline():
            raise SystemExit(f"{python} cannot run sentence-transformers")
        laps: dict[str, Lap] = {f"{BATCHES} {size}": partial(lap, size) for size in BATCH_SIZES}
        yield np.load(scratch / "vectors.npy"), laps
    finally:
        asked.close()
        child.wait()


def _make_model_directory(pin: Pin, directory: Path) -> None:
    """Make a directory from which any version of sentence-transformers can load the model."""
    directory.mkdir()
    for file in (store.CONFIG, store.TOKENIZER, store.SAFETENSORS):
        (directory / file).symlink_to(store.model_directory(cache(), pin.checksums) / file)
    steps = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": idx, "name": str(idx), "path": path, "type": f"sentence_transformers.models.{step}"}
        for idx, (path, step) in enumerate(steps.items())
    ]
    pooling = {
        "word_embedding_dimension": pin.dimension,
        "pooling_mode_mean_tokens": pin.settings.pooling == "mean",
        "pooling_mode_cls_token": pin.settings.pooling == "cls",
    }
    for file, content in {
        "modules.json": modules,
        "1_Pooling/config.json": pooling,
        "2_Normalize/config.json": {},
        "sentence_bert_config.json": {"max_seq_length": pin.settings.max_length},
        "tokenizer_config.json": {"tokenizer_class": "BertTokenizer"},
    }.items():
        (directory / file).parent.mkdir(exist_ok=True)
        (directory / file).write_bytes(msgspec.json.encode(content))
