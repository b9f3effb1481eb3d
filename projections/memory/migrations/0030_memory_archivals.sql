-- Which stored memories are archived (C10): the newest row of a memory says.

CREATE TABLE memory_archivals (
    memory_id   TEXT    NOT NULL,
    number      INTEGER NOT NULL,               -- the ledger record that archived or restored it
    is_archived INTEGER NOT NULL CHECK (is_archived IN (0, 1)),
    cause       TEXT    NOT NULL,               -- age, expiry, request
    at          INTEGER NOT NULL,               -- unix ms
    PRIMARY KEY (memory_id, number)
) WITHOUT ROWID;
CREATE INDEX idx_memory_archivals_cause ON memory_archivals(cause, number);
CREATE INDEX idx_memory_archivals_at ON memory_archivals(at, number);

-- The most recently retrieved memories.
CREATE INDEX idx_memory_accesses_at ON memory_accesses(at, number);
