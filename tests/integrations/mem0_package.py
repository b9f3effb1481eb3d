"""Mem0's package, told before it is imported to report nothing and to write nowhere else."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0"))

import pytest
from mem0 import AsyncMemoryClient, MemoryClient
from mem0.embeddings.base import EmbeddingBase
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError
from mem0.memory.main import Memory as TheirMemory
from mem0.utils.factory import EmbedderFactory

__all__ = [
    "AsyncMemoryClient",
    "AuthenticationError",
    "MemoryClient",
    "MemoryNotFoundError",
    "TheirMemory",
    "ValidationError",
    "their_memory_with",
]


def their_memory_with(encoder: Any, room: Path) -> TheirMemory:
    """Return Mem0's `Memory` in a folder, whose vectors are those of an encoder of ours."""

    class Encoded(EmbeddingBase):  # type: ignore[misc]
        def __init__(self) -> None:
            pass

        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            asked = memory_action == "search"
            vector = encoder.encode_query(text) if asked else encoder.encode([text])[0]
            return [float(number) for number in vector]

    store = {
        "path": str(room / "qdrant"),
        "collection_name": "memories",
        "embedding_model_dims": encoder.dimension,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmbedderFactory, "create", lambda *_: Encoded())
        return TheirMemory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                # It is asked nothing: what is added is verbatim.
                "llm": {"provider": "openai", "config": {"api_key": "none"}},
                "history_db_path": str(room / "history.db"),
            }
        )
