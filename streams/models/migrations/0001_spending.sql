-- spending.db: what models were paid, by day. No memory is made of it.

CREATE TABLE spent (
    day    TEXT    PRIMARY KEY,     -- the day in UTC, as 2026-05-08
    calls  INTEGER NOT NULL,
    tokens INTEGER NOT NULL,        -- what calls under way may take is counted as taken
    cost   REAL    NOT NULL
) WITHOUT ROWID;
