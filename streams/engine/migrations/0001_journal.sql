-- driver.db. Builds before files had numbers made some or all of it.

CREATE TABLE IF NOT EXISTS in_flight (      -- a batch that was begun and not ended
    zone  TEXT NOT NULL,
    chain TEXT NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (zone, chain)
);

CREATE TABLE IF NOT EXISTS attempts (       -- how often a record was tried
    zone   TEXT NOT NULL,
    chain  TEXT NOT NULL,
    number INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (zone, chain, number)
);

CREATE TABLE IF NOT EXISTS outboxes (       -- up to which change record commands were appended
    zone   TEXT NOT NULL,
    chain  TEXT NOT NULL,
    number INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (zone, chain)
);

CREATE TABLE IF NOT EXISTS moves (          -- how far a zone's files were, for status alone
    zone   TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    at     INTEGER NOT NULL
);
