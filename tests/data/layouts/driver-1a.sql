-- As commit 2362fe0 made it.

CREATE TABLE in_flight (      -- a batch that was begun and not ended
    zone  TEXT NOT NULL,
    chain TEXT NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (zone, chain)
);
CREATE TABLE attempts (       -- how often a record was tried
    zone   TEXT NOT NULL,
    chain  TEXT NOT NULL,
    number INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (zone, chain, number)
);
CREATE TABLE outboxes (       -- up to which change record commands were appended
    zone   TEXT NOT NULL,
    chain  TEXT NOT NULL,
    number INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    hash   BLOB NOT NULL,
    PRIMARY KEY (zone, chain)
);
CREATE TABLE moves (          -- how far a zone's files were, for status alone
    zone   TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    at     INTEGER NOT NULL
);
CREATE TABLE purges (         -- files that may hold traces of what was erased
    zone  TEXT PRIMARY KEY
);

PRAGMA user_version = 1;
