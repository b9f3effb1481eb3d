-- As commit 1b383ba made it.

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

PRAGMA user_version = 0;
