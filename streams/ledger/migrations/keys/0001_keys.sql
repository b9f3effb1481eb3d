-- keys.db: the keys of sealed payloads. Builds before files had numbers made all of it.

CREATE TABLE IF NOT EXISTS keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
