-- Typed relationships between entities (C6, C17), each as the facts that state it.

CREATE TABLE relationship_evidence (
    fact_id           TEXT    NOT NULL,
    source_entity_id  TEXT    NOT NULL,     -- entities.id of identity.db, before merges
    target_entity_id  TEXT    NOT NULL,
    relationship_type TEXT    NOT NULL,
    confidence        REAL    NOT NULL CHECK (confidence >= 0.0 AND confidence <= 1.0),
    char_start        INTEGER NOT NULL,     -- where the fact's text states it
    char_end          INTEGER NOT NULL,
    rule              TEXT    NOT NULL,
    PRIMARY KEY (fact_id, source_entity_id, target_entity_id)
) WITHOUT ROWID;
CREATE INDEX idx_relationship_evidence_source
    ON relationship_evidence(source_entity_id, target_entity_id, relationship_type);
CREATE INDEX idx_relationship_evidence_target
    ON relationship_evidence(target_entity_id, source_entity_id, relationship_type);

-- The relationships that hold now, each once; a file has one zone. `weight`: how many statements.
CREATE VIEW relationships
    (source_entity_id, target_entity_id, relationship_type, weight, confidence) AS
SELECT source_entity_id, target_entity_id, relationship_type,
       sum((SELECT count(*) FROM statements WHERE statements.fact_id = evidence.fact_id)),
       max(confidence)
  FROM relationship_evidence AS evidence
 WHERE NOT EXISTS (SELECT 1 FROM fact_ends WHERE fact_ends.fact_id = evidence.fact_id)
 GROUP BY source_entity_id, target_entity_id, relationship_type;
