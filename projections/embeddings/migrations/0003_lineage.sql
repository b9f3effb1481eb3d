-- The number of deletions and changes of indexed rows, by which an index of an older state knows that
-- it must be rebuilt.

CREATE TABLE lineage (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
);
INSERT INTO lineage VALUES (1, 0);

CREATE TRIGGER embeddings_gone AFTER DELETE ON embeddings
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
CREATE TRIGGER embeddings_changed AFTER UPDATE OF embedding, target_type, target_id, model
ON embeddings
WHEN NEW.embedding IS NOT OLD.embedding OR NEW.target_type IS NOT OLD.target_type
  OR NEW.target_id IS NOT OLD.target_id OR NEW.model IS NOT OLD.model
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;

CREATE TRIGGER token_vectors_gone AFTER DELETE ON token_vectors
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
CREATE TRIGGER token_vectors_changed AFTER UPDATE OF codes, scales, units, target_type, target_id, model, form
ON token_vectors
WHEN NEW.codes IS NOT OLD.codes OR NEW.scales IS NOT OLD.scales OR NEW.units IS NOT OLD.units
  OR NEW.target_type IS NOT OLD.target_type OR NEW.target_id IS NOT OLD.target_id
  OR NEW.model IS NOT OLD.model OR NEW.form IS NOT OLD.form
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
