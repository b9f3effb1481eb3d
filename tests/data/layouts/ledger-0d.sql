-- As commit ab6601d made it.

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
CREATE TABLE voids (      -- keys of events that no chain accepts
    position INTEGER PRIMARY KEY,
    key_id   BLOB NOT NULL
);
CREATE TABLE unread (     -- where a zone's events go on in a form of a newer program
    zone     INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
);
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
