-- Consolidated memories (C15, C16): which memories they consolidate, and what a model says of them.

CREATE TABLE memory_consolidations (
    id         TEXT PRIMARY KEY,
    level      INTEGER NOT NULL,
    method     TEXT    NOT NULL CHECK (method IN ('affinity', 'criteria')),
    first_at   INTEGER NOT NULL,                -- unix ms
    last_at    INTEGER NOT NULL,
    sources    TEXT    NOT NULL,                -- JSON: numbers of the events of its texts
    has_statements INTEGER NOT NULL,            -- 1 if a language model stated what they say
    model      TEXT,
    number     INTEGER NOT NULL                 -- the ledger record that asked for it
) WITHOUT ROWID;
CREATE INDEX idx_memory_consolidations_level ON memory_consolidations(level);

CREATE TABLE memory_parents (
    child_id  TEXT PRIMARY KEY,                 -- the first version of a memory
    parent_id TEXT    NOT NULL,
    position  INTEGER NOT NULL                  -- from 1
) WITHOUT ROWID;
CREATE INDEX idx_memory_parents_parent ON memory_parents(parent_id, position);

CREATE TABLE memory_statements (
    memory_id TEXT    NOT NULL,
    position  INTEGER NOT NULL,
    text      TEXT    NOT NULL,
    positions TEXT    NOT NULL,                 -- JSON: of the memories that it rests on
    PRIMARY KEY (memory_id, position)
) WITHOUT ROWID;
