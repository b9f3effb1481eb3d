-- As commit e462d3a made it.

CREATE TABLE keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE destroyed (
    key_id BLOB PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE agreed (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE cursors (
    partition INTEGER PRIMARY KEY,
    next      INTEGER NOT NULL
);
CREATE TABLE taken_in (      -- up to where the inbox is in the ledger
    partition INTEGER PRIMARY KEY,
    next      INTEGER NOT NULL
);
CREATE TABLE times (         -- of the last end of a key, and of the last record
    partition INTEGER PRIMARY KEY,
    ended_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL
);

PRAGMA user_version = 1;
