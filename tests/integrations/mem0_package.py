"""Mem0's package, told before it is imported to report nothing and to write nowhere else."""

from __future__ import annotations

import os
import tempfile

os.environ["MEM0_TELEMETRY"] = "False"
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0"))

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError
from mem0.memory.main import Memory as TheirMemory

__all__ = [
    "AsyncMemoryClient",
    "AuthenticationError",
    "MemoryClient",
    "MemoryNotFoundError",
    "TheirMemory",
    "ValidationError",
]
