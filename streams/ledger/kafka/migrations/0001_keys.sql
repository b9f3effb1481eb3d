-- copy/keys.db: what a node has read of the topic `keys`. Builds before files had numbers made
-- some or all of it.

CREATE TABLE IF NOT EXISTS keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS destroyed (
    key_id BLOB PRIMARY KEY
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS agreed (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS cursors (
    partition INTEGER PRIMARY KEY,
    next      INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS taken_in (      -- up to where the inbox is in the ledger
    partition INTEGER PRIMARY KEY,
    next      INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS times (         -- of the last end of a key, and of the last record
    partition INTEGER PRIMARY KEY,
    ended_at  INTEGER NOT NULL,
    last_at   INTEGER NOT NULL
);
