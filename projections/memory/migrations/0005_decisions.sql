-- The dependencies of each decision, and the offset of its change record.

CREATE TABLE decisions (
    number   INTEGER PRIMARY KEY,
    reads    BLOB NOT NULL,         -- keys under which the state was asked, 8 bytes each
    writes   BLOB NOT NULL,         -- keys under which the decision's rows are found
    restated BLOB                   -- its rows, where an erasure made it again
);
CREATE INDEX idx_decisions_restated ON decisions(number) WHERE restated IS NOT NULL;
CREATE TABLE conclusions (
    number INTEGER PRIMARY KEY,
    offset INTEGER NOT NULL,        -- of the change record's last fragment in `changes`
    traced BOOLEAN NOT NULL         -- its decision said what it depends on
);
