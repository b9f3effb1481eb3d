-- As commit 1cbd6fb made it.

CREATE TABLE keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 0;
