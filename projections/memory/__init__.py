"""memory.db: facts and what is built on them."""

from projections.memory.model import MemoryModel

__all__ = ["MemoryModel"]
