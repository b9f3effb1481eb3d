"""The file memory.db."""

from collections.abc import Iterable
from pathlib import Path

from recollect.projections.migrations import Migrations
from recollect.projections.readmodel import ReadModel


class MemoryModel(ReadModel):
    """Facts, claims, turns, the processing log, episodes, analyses, mental models."""

    name = "memory"
    full_text_index = "facts_fts"
    ledger_tables = frozenset({"decisions", "conclusions"})
    migrations = Migrations(Path(__file__).parent / "migrations")

    def record_decisions(self, decided: Iterable[tuple[int, int, bool]]) -> None:
        """Record (number, offset, is traced) of change records that the file now reflects."""
        self.connection.executemany("INSERT OR REPLACE INTO conclusions VALUES (?, ?, ?)", decided)
