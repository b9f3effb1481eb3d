"""The file memory.db."""

from collections.abc import Iterable

from projections.lineage import lineage_schema
from projections.readmodel import SCHEMA_VERSION, ReadModel

_LINEAGE = lineage_schema({"facts": ("text", "source_event_id")})
# One end for each fact, where there could be several: of those, the one that was put last.
_ONE_END = """
CREATE TABLE ends (
    fact_id       TEXT PRIMARY KEY,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL
) WITHOUT ROWID;
INSERT OR REPLACE INTO ends
SELECT fact_id, superseded_by, invalid_at FROM fact_supersessions
 ORDER BY invalid_at, superseded_by;
DROP TABLE fact_supersessions;
ALTER TABLE ends RENAME TO fact_supersessions;
CREATE INDEX idx_fact_supersessions_by ON fact_supersessions(superseded_by);
"""
_OF_THE_SEEDS = """
CREATE INDEX idx_fact_entities_fact ON fact_entities(fact_id);
CREATE TABLE episode_events (
    episode_id TEXT NOT NULL REFERENCES episodes(id) ON DELETE CASCADE,
    event_id   TEXT NOT NULL,                   -- events.id of events.db, by convention
    PRIMARY KEY (episode_id, event_id)
) WITHOUT ROWID;
CREATE INDEX idx_episode_events_event ON episode_events(event_id);
"""
# What each decision depends on, and where its change record is.
_TRACED = """
CREATE TABLE decisions (
    number   INTEGER PRIMARY KEY,
    reads    BLOB NOT NULL,         -- keys under which the state was asked, 8 bytes each
    writes   BLOB NOT NULL,         -- keys under which the decision's rows are found
    restated BLOB                   -- its rows, where an erasure made it again
);
CREATE INDEX idx_decisions_restated ON decisions(number) WHERE restated IS NOT NULL;
CREATE TABLE conclusions (
    number INTEGER PRIMARY KEY,
    offset INTEGER NOT NULL,        -- of the change record's last fragment in `changes`
    traced BOOLEAN NOT NULL         -- its decision said what it depends on
);
"""


class MemoryModel(ReadModel):
    """Facts, claims, turns, the processing log, episodes, analyses, mental models."""

    name = "memory"
    upgrades = (_LINEAGE, _ONE_END, _OF_THE_SEEDS + SCHEMA_VERSION, _TRACED, _LINEAGE)

    def schema(self) -> str:
        return super().schema() + _LINEAGE + _TRACED

    def note_decisions(self, decided: Iterable[tuple[int, int, bool]]) -> None:
        """Note (number, offset, traced) of change records that the file holds from now on."""
        self.connection.executemany("INSERT OR REPLACE INTO conclusions VALUES (?, ?, ?)", decided)
