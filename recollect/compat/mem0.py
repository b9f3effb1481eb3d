"""Mem0's `Memory` on recollect: change the import, and keep the program.

This module only re-exports `recollect.integrations.mem0`.
"""

from recollect.integrations.mem0 import AsyncMemory, Memory

__all__ = ["AsyncMemory", "Memory"]
