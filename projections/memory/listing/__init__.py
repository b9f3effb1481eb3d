"""Queries of memory.db for lists: facts, episodes, analyses, stored memories, learning."""
