-- Dreams (B11): what a language model supposes to link two distant topics. Conjectures, not memories.

CREATE TABLE dreams (
    id         TEXT PRIMARY KEY,
    bridge     TEXT    NOT NULL,        -- what the two topics have in common
    insight    TEXT    NOT NULL,        -- what follows, if that is so
    surprise   REAL    NOT NULL,        -- 0 to 1, by the evaluation
    model      TEXT    NOT NULL,
    number     INTEGER NOT NULL,        -- the ledger record
    created_at INTEGER NOT NULL         -- unix ms
) WITHOUT ROWID;
CREATE INDEX idx_dreams_number ON dreams(number);

CREATE TABLE dream_facts (
    dream_id TEXT NOT NULL,
    fact_id  TEXT NOT NULL,
    PRIMARY KEY (dream_id, fact_id)
) WITHOUT ROWID;
CREATE INDEX idx_dream_facts_fact ON dream_facts(fact_id);
