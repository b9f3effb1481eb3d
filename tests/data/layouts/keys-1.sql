-- As commit 2362fe0 made it.

CREATE TABLE keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

PRAGMA user_version = 1;
