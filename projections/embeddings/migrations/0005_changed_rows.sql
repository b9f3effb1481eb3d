-- The rowids of recently deleted and changed rows, so that an index removes only these.

CREATE TABLE changed_rows (
    change     INTEGER PRIMARY KEY,
    table_name TEXT    NOT NULL,
    row_id     INTEGER NOT NULL
);

DROP TRIGGER embeddings_gone;
CREATE TRIGGER embeddings_gone AFTER DELETE ON embeddings
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'embeddings', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
DROP TRIGGER embeddings_changed;
CREATE TRIGGER embeddings_changed AFTER UPDATE OF embedding, target_type, target_id, model
ON embeddings
WHEN NEW.embedding IS NOT OLD.embedding OR NEW.target_type IS NOT OLD.target_type
  OR NEW.target_id IS NOT OLD.target_id OR NEW.model IS NOT OLD.model
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'embeddings', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;

DROP TRIGGER token_vectors_gone;
CREATE TRIGGER token_vectors_gone AFTER DELETE ON token_vectors
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'token_vectors', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
DROP TRIGGER token_vectors_changed;
CREATE TRIGGER token_vectors_changed AFTER UPDATE OF codes, scales, units, target_type, target_id, model, form
ON token_vectors
WHEN NEW.codes IS NOT OLD.codes OR NEW.scales IS NOT OLD.scales OR NEW.units IS NOT OLD.units
  OR NEW.target_type IS NOT OLD.target_type OR NEW.target_id IS NOT OLD.target_id
  OR NEW.model IS NOT OLD.model OR NEW.form IS NOT OLD.form
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'token_vectors', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
