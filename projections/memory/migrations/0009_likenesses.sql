-- Fingerprints of short facts, by which paraphrases are found (A21).

CREATE TABLE fact_likenesses (
    fact_id TEXT    PRIMARY KEY,
    key     TEXT    NOT NULL,       -- of all that must be equal
    as_of   INTEGER NOT NULL,
    words   BLOB    NOT NULL,       -- marks of its words, four bytes each, in order
    vector  BLOB    NOT NULL        -- canonical, one byte per dimension
) WITHOUT ROWID;
CREATE INDEX idx_fact_likenesses_key ON fact_likenesses(key, as_of);
