-- The sentences of facts: what a person says later may end them.
CREATE TABLE fact_sentences (
    fact_id     TEXT PRIMARY KEY,
    speaker     TEXT    NOT NULL,       -- the sender's id; of a private memory, with its readers
    said_at     INTEGER NOT NULL,       -- unix ms
    sentence    TEXT    NOT NULL,
    vector      BLOB    NOT NULL,       -- int8
    percent     INTEGER NOT NULL,       -- the probability that the sentence ends anything
    attributes  TEXT    NOT NULL,       -- JSON: attribute -> percent
    names       TEXT    NOT NULL,
    is_standing INTEGER NOT NULL        -- 0: the event was edited or deleted
);
CREATE INDEX idx_fact_sentences_speaker ON fact_sentences(speaker, said_at) WHERE is_standing;
