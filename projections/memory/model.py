"""The file memory.db."""

from projections.lineage import lineage_schema
from projections.readmodel import ReadModel

_LINEAGE = lineage_schema({"facts": ("text", "source_event_id")})


class MemoryModel(ReadModel):
    """Facts, claims, turns, the processing log, episodes, analyses, mental models."""

    name = "memory"
    upgrades = (_LINEAGE,)

    def schema(self) -> str:
        return super().schema() + _LINEAGE
