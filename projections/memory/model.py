"""The file memory.db."""

from projections.readmodel import ReadModel


class MemoryModel(ReadModel):
    """Facts, claims, turns, the processing log, episodes, analyses, mental models."""

    name = "memory"
