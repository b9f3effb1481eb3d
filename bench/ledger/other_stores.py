"""Stores and erases facts with another system, in a Python that has it; see `remaining`.

Reads one JSON document from standard input, and writes what remains as the last line of its output.
"""

from __future__ import annotations

import json
import os
import re
import sys
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

DIMENSION = 256
_RESULTS = 20
Json = dict[str, Any]


def vector(text: str) -> list[float]:
    """Return a bag of hashed words as a vector of length 1."""
    found = [0.0] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        found[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    norm = sum(value * value for value in found) ** 0.5 or 1.0
    return [value / norm for value in found]


class _HashedVectors:
    """The part of a mem0 embedder that its memory calls."""

    config = type("Config", (), {"embedding_dims": DIMENSION, "model": "hashed"})

    def embed(self, text: str, *_: Any, **__: Any) -> list[float]:
        return vector(text)

    def embed_batch(self, texts: list[str], *_: Any, **__: Any) -> list[list[float]]:
        return [vector(text) for text in texts]


def mem0(given: Json) -> Json:
    """Store, erase and ask with mem0's Memory, without its language model."""
    directory = Path(given["directory"])
    os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none", "MEM0_DIR": str(directory)}
    qdrant = {"path": str(directory / "qdrant"), "on_disk": True}
    memory = import_module("mem0").Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {**qdrant, "embedding_model_dims": DIMENSION},
            },
            "history_db_path": str(directory / "history.db"),
        }
    )
    memory.embedding_model = _HashedVectors()
    ids: list[tuple[str, str]] = []
    for person, text in given["facts"]:
        added = memory.add(text, user_id="bench", infer=False)["results"]
        ids += [(person, item["id"]) for item in added]
    for person, id_ in ids:
        if person in given["erased"]:
            memory.delete(id_)
    who = {"filters": {"user_id": "bench"}}
    everything = [item["memory"] for item in memory.get_all(**who, top_k=10_000)["results"]]
    history = 0
    for person, id_ in ids:
        for change in memory.history(id_):
            texts = [text for text in (change["old_memory"], change["new_memory"]) if text]
            everything += texts
            history += person in given["erased"] and bool(texts)
    texts = [
        everything
        + [item["memory"] for item in memory.search(question, **who, top_k=_RESULTS)["results"]]
        for question in given["questions"]
    ]
    left = memory.vector_store.client.count(memory.collection_name).count
    memory.vector_store.client.close()
    return {"texts": texts, "vectors": left, "history": history}


def langgraph(given: Json) -> Json:
    """Store, erase and list with langgraph's SqliteStore, without an index of vectors."""
    store_type = import_module("langgraph.store.sqlite").SqliteStore
    path = Path(given["directory"]) / "store.db"
    space = ("bench",)
    with store_type.from_conn_string(str(path)) as store:
        store.setup()
        for number, (_, text) in enumerate(given["facts"]):
            store.put(space, str(number), {"text": text})
        for number, (person, _) in enumerate(given["facts"]):
            if person in given["erased"]:
                store.delete(space, str(number))
        everything = [item.value["text"] for item in store.search(space, limit=10_000)]
    return {"texts": [everything for _ in given["questions"]], "vectors": 0, "history": 0}


if __name__ == "__main__":
    request = json.load(sys.stdin)
    result = {"mem0": mem0, "langgraph": langgraph}[request["system"]](request)
    print(json.dumps({**result, "directory": request["directory"]}))
