"""Mem0's interfaces over a zone: its `Memory`, the paths of its platform, and its MCP tools."""

from recollect.integrations.mem0.mem0_memory import AsyncMemory, Memory

__all__ = ["AsyncMemory", "Memory"]
