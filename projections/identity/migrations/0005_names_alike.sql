-- Blocking keys derived from each name: a new entity is compared with the entities that share one.

CREATE TABLE name_keys (
    key       TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    PRIMARY KEY (key, entity_id)
) WITHOUT ROWID;
CREATE INDEX idx_name_keys_entity ON name_keys(entity_id);
