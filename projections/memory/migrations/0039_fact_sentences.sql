-- The sentences that state facts: what a person says later may end them.
CREATE TABLE fact_sentences (
    fact_id     TEXT    NOT NULL,
    event_id    TEXT    NOT NULL,       -- what states the fact, for the first time or again
    speaker     TEXT    NOT NULL,       -- the sender's id; of a stored memory, with its owner
    said_at     INTEGER NOT NULL,       -- unix ms
    sentence    TEXT    NOT NULL,
    vector      BLOB    NOT NULL,       -- int8
    percent     INTEGER NOT NULL,       -- the probability that the sentence ends anything
    attributes  TEXT    NOT NULL,       -- JSON: attribute -> percent
    names       TEXT    NOT NULL,
    is_standing INTEGER NOT NULL,       -- 0: the event was edited or deleted
    PRIMARY KEY (fact_id, event_id)
);
CREATE INDEX idx_fact_sentences_event ON fact_sentences(event_id) WHERE is_standing;
CREATE INDEX idx_fact_sentences_speaker ON fact_sentences(speaker, said_at) WHERE is_standing;
