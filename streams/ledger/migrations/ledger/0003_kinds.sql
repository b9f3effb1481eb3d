-- Where a zone's accepted events of a kind are, and which platforms they came from. The program
-- fills both tables of an older file from its records.

CREATE TABLE IF NOT EXISTS kinds (
    zone     INTEGER NOT NULL,
    kind     TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (zone, kind, position)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS platforms (
    zone     INTEGER NOT NULL,
    platform TEXT NOT NULL,
    PRIMARY KEY (zone, platform)
) WITHOUT ROWID;
