-- As commit 1b383ba made it.

CREATE TABLE zones (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE heads (
    zone   INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    hash   BLOB NOT NULL
);
CREATE TABLE sources (
    zone     INTEGER NOT NULL,
    source   BLOB NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (zone, source)
) WITHOUT ROWID;
CREATE TABLE events (
    position    INTEGER PRIMARY KEY,
    zone        INTEGER NOT NULL,
    value       BLOB NOT NULL,
    appended_at INTEGER
);
CREATE INDEX events_of_zone ON events(zone, position);
CREATE TABLE changes (
    position    INTEGER PRIMARY KEY,
    zone        INTEGER NOT NULL,
    value       BLOB NOT NULL,
    appended_at INTEGER
);
CREATE INDEX changes_of_zone ON changes(zone, position);
CREATE TABLE recordings (
    position    INTEGER PRIMARY KEY,
    zone        INTEGER NOT NULL,
    value       BLOB NOT NULL,
    appended_at INTEGER
);
CREATE INDEX recordings_of_zone ON recordings(zone, position);

PRAGMA user_version = 0;
