"""Sentences of conversations in LoCoMo's form, and the recall of bit codes against exact search."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from bench.kit.homes import Vectors
from recollect.projections.embeddings.canonical_vectors import to_int8
from recollect.projections.recall.index.arrays.growable_arrays import Texts
from recollect.projections.recall.index.vector_index import Vectors as Index
from recollect.projections.recall.index.vector_index import VectorTargets

_SESSION = re.compile(r"session_\d+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def load_texts(data: Path, conversations: int | None = None) -> tuple[list[str], list[str]]:
    """Return the turns with their sentences, each text once, and the questions."""
    texts: dict[str, None] = {}
    questions: list[str] = []
    for sample in json.loads(data.read_text("utf-8"))[:conversations]:
        talk = sample["conversation"]
        for session in filter(_SESSION.fullmatch, talk):
            for turn in talk[session]:
                for text in (turn["text"], *_SENTENCE_END.split(turn["text"])):
                    texts[text] = None
        questions += [item["question"] for item in sample["qa"]]
    return list(texts), questions


def share_of_nearest(vectors: Vectors, asked: Vectors, nearest: int) -> float:
    """Return the share of the `nearest` vectors to each query that recall's index finds."""
    everywhere = np.ones(len(vectors), bool)
    index = _index(vectors)
    found = 0
    for vector in asked:
        exact = np.argsort(-(vectors @ vector), kind="stable")[:nearest]
        near = index.nearest(vector, nearest, everywhere)
        found += len(set(exact.tolist()) & set(near.places.tolist()))
    return found / (len(asked) * min(nearest, len(vectors)))


def _index(vectors: Vectors) -> Index:
    """Return recall's index over vectors; the id of a vector is its position."""
    ids = Texts()
    ids.extend(map(str, range(len(vectors))))
    places = np.arange(len(vectors))
    targets = VectorTargets(
        lambda names: np.array([int(name) for name in names]), ids, lambda: places
    )
    index = Index(vectors.shape[1], targets)
    codes, _ = to_int8(vectors)
    index.extend(list(range(len(vectors))), ids[:], codes)
    return index
