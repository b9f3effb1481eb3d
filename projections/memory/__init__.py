"""memory.db: facts, and what is derived from them."""

from recollect.projections.memory.memory_file import MemoryModel

__all__ = ["MemoryModel"]
