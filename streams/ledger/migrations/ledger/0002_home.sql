-- Which home the file belongs to, and where its ledger went. Builds before this one made these
-- tables when they had something to put there.

CREATE TABLE IF NOT EXISTS identity (
    home BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS moved (
    url TEXT NOT NULL
);
