-- Stored memories (C1, C2, C12, C13): texts that somebody asked to remember, and their versions.

CREATE TABLE memories (
    id                   TEXT PRIMARY KEY,      -- the version's event
    memory_type          TEXT    NOT NULL,
    scope                TEXT    NOT NULL,      -- agent, user, zone, global
    visibility           TEXT    NOT NULL,      -- private, shared, public
    user_id              TEXT,
    agent_id             TEXT,
    reader_user          TEXT,                  -- who may read it; NULL: everyone
    reader_agent         TEXT,
    namespace            TEXT,
    path_key             TEXT,
    importance           REAL,                  -- as given; it decays when it is read
    valid_at             INTEGER NOT NULL,      -- unix ms
    invalid_at           INTEGER,
    created_at           INTEGER NOT NULL,
    abstraction_level    INTEGER NOT NULL,
    derived_from         TEXT    NOT NULL,      -- JSON: ids of memories
    enrichments          TEXT    NOT NULL,      -- JSON
    earliest_date        TEXT,                  -- YYYY-MM-DD
    latest_date          TEXT,
    temporal_stability   TEXT,
    stability_confidence REAL,
    number               INTEGER NOT NULL       -- the ledger record that wrote this version
) WITHOUT ROWID;
CREATE INDEX idx_memories_created ON memories(created_at, number);
CREATE INDEX idx_memories_type ON memories(memory_type, created_at, number);
CREATE INDEX idx_memories_namespace ON memories(namespace, created_at, number);
CREATE INDEX idx_memories_user ON memories(user_id, created_at, number);
CREATE INDEX idx_memories_agent ON memories(agent_id, created_at, number);
CREATE INDEX idx_memories_readers ON memories(reader_user, reader_agent);
CREATE INDEX idx_memories_valid ON memories(valid_at);
CREATE INDEX idx_memories_stability ON memories(temporal_stability, created_at, number);
CREATE INDEX idx_memories_earliest ON memories(earliest_date) WHERE earliest_date IS NOT NULL;
CREATE INDEX idx_memories_latest ON memories(latest_date) WHERE latest_date IS NOT NULL;
CREATE INDEX idx_memories_level ON memories(abstraction_level, created_at, number);

CREATE TABLE memory_versions (
    id               TEXT PRIMARY KEY,
    memory_id        TEXT    NOT NULL,          -- the first version
    version          INTEGER NOT NULL,
    length           INTEGER NOT NULL,          -- of the text, in characters
    place            TEXT    NOT NULL,          -- hash of owner, namespace and path key, or ''
    supersedes_id    TEXT,
    superseded_by_id TEXT,
    superseded_at    INTEGER,                   -- unix ms
    state            TEXT    NOT NULL CHECK (state IN ('active', 'inactive', 'deleted')),
    state_set_by     TEXT    NOT NULL           -- the event that set it, or ''
) WITHOUT ROWID;
CREATE INDEX idx_memory_versions_memory ON memory_versions(memory_id, version);
CREATE INDEX idx_memory_versions_place ON memory_versions(place) WHERE place <> '';
CREATE INDEX idx_memory_versions_state ON memory_versions(state) WHERE state <> 'active';

CREATE TABLE memory_accesses (
    number    INTEGER NOT NULL,
    memory_id TEXT    NOT NULL,
    count     INTEGER NOT NULL,
    at        INTEGER NOT NULL,                 -- unix ms
    PRIMARY KEY (number, memory_id)
) WITHOUT ROWID;
CREATE INDEX idx_memory_accesses_memory ON memory_accesses(memory_id);

-- What a memory mentions, for filters.
CREATE TABLE memory_references (
    memory_id TEXT    NOT NULL,
    position  INTEGER NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('type', 'person')),
    value     TEXT    NOT NULL,
    PRIMARY KEY (memory_id, position)
) WITHOUT ROWID;
CREATE INDEX idx_memory_references_value ON memory_references(kind, value, memory_id);
