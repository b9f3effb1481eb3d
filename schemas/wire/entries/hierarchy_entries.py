"""The hierarchy of stored memories: the results of consolidating and of searching it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.wire.entries.stored_memory_entries import StoredMemory


class ConsolidatedLevel(msgspec.Struct, frozen=True, kw_only=True):
    """The consolidated memories that were made on one level."""

    level: Annotated[
        int, Meta(description="1: texts are consolidated; 2 and more: consolidated memories are.")
    ]
    memory_ids: Annotated[list[str], Meta(description="Ids of the new memories.")]
    archived: Annotated[int, Meta(description="The number of memories in them.")]
    with_model: Annotated[
        int, Meta(description="Number of them with sentences by a language model.")
    ] = 0


class MemoryConsolidationReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of consolidating memories, by level; empty if no memories belong together."""

    levels: Annotated[list[ConsolidatedLevel], Meta(description="The new memories by level.")]

    def __iter__(self) -> Iterator[ConsolidatedLevel]:
        return iter(self.levels)


class MemoryLevel(msgspec.Struct, frozen=True, kw_only=True):
    """The stored memories below or above another one."""

    memories: Annotated[list[StoredMemory], Meta(description="The memories, in order.")]

    def __iter__(self) -> Iterator[StoredMemory]:
        return iter(self.memories)


class MemoryHit(msgspec.Struct, frozen=True, kw_only=True):
    """A stored memory that a search found, itself or by the memories in it."""

    memory: Annotated[StoredMemory, Meta(description="The memory.")]
    score: Annotated[float, Meta(description="How well it answers, from 0 to 1.")]
    matches: Annotated[
        list[str], Meta(description="Ids of the texts that the question found, best first.")
    ]


class MemoryHits(msgspec.Struct, frozen=True, kw_only=True):
    """What a search of stored memories found."""

    hits: Annotated[list[MemoryHit], Meta(description="The memories, best first.")]

    def __iter__(self) -> Iterator[MemoryHit]:
        return iter(self.hits)
