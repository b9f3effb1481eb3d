"""Mem0's `Memory` on recollect: a program only has to change the import.

This module only re-exports `recollect.integrations.mem0`.
"""

from recollect.integrations.mem0 import AsyncMemory, Memory

__all__ = ["AsyncMemory", "Memory"]
