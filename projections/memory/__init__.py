"""memory.db: facts and what is built on them."""

from recollect.projections.memory.memory_file import MemoryModel

__all__ = ["MemoryModel"]
