-- Stated relations between facts (C9): one extends another, or derives from it.

CREATE TABLE fact_relations (
    fact_id        TEXT    NOT NULL,    -- the one that adds, or that follows
    target_fact_id TEXT    NOT NULL,
    relation       TEXT    NOT NULL CHECK (relation IN ('EXTENDS', 'DERIVES')),
    confidence     REAL    NOT NULL CHECK (confidence >= 0.0 AND confidence <= 1.0),
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (fact_id, target_fact_id)
) WITHOUT ROWID;
CREATE INDEX idx_fact_relations_target ON fact_relations(target_fact_id);
