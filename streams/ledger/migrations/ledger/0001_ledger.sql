-- ledger.db, and a node's copy of a Kafka ledger: the topics, and what says which events their
-- zones' chains accept. Builds before files had numbers made some or all of it.

CREATE TABLE IF NOT EXISTS zones (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE IF NOT EXISTS heads (
    zone   INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    hash   BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS sources (
    zone     INTEGER NOT NULL,
    source   BLOB NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (zone, source)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS voids (      -- events that no chain accepts, until their keys end
    position INTEGER PRIMARY KEY,
    key_id   BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS unread (     -- where a zone's events go on in a form of a newer program
    zone     INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
);

-- A record's position is its partition and its offset in one integer.
CREATE TABLE IF NOT EXISTS events (
    position    INTEGER PRIMARY KEY,
    zone        INTEGER NOT NULL,
    value       BLOB NOT NULL,
    appended_at INTEGER             -- unix ms
);
CREATE INDEX IF NOT EXISTS events_of_zone ON events(zone, position);

CREATE TABLE IF NOT EXISTS recordings (
    position    INTEGER PRIMARY KEY,
    zone        INTEGER NOT NULL,
    value       BLOB NOT NULL,
    appended_at INTEGER             -- unix ms
);
CREATE INDEX IF NOT EXISTS recordings_of_zone ON recordings(zone, position);

CREATE TABLE IF NOT EXISTS changes (
    position    INTEGER PRIMARY KEY,
    zone        INTEGER NOT NULL,
    value       BLOB NOT NULL,
    appended_at INTEGER             -- unix ms
);
CREATE INDEX IF NOT EXISTS changes_of_zone ON changes(zone, position);
