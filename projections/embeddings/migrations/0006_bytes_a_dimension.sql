-- Vectors take one byte per dimension, token vectors three bits (converted by the functions of
-- legacy_vectors.py). The search index is rebuilt after this migration, without turns and facts.
-- Indexes that are a prefix of another one go, and tokens are looked up by text through `embeddings`.

DROP TRIGGER IF EXISTS vec_embeddings_insert;
DROP TRIGGER IF EXISTS vec_embeddings_delete;
DROP TRIGGER IF EXISTS vec_embeddings_update;
DROP TABLE IF EXISTS vec_embeddings;

CREATE TEMP TABLE kept AS
SELECT seq, id, target_type, target_id, model, vector_of_today(embedding, dimension) AS embedding,
       dimension, text_hash, created_at
  FROM embeddings;
DROP TABLE embeddings;
CREATE TABLE embeddings (
    seq         INTEGER PRIMARY KEY,        -- the rowid of the index; of no meaning elsewhere
    id          TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id   TEXT NOT NULL,
    model       TEXT NOT NULL,
    embedding   BLOB NOT NULL,              -- int8: the direction of a vector, not its length
    dimension   INTEGER NOT NULL,
    text_hash   TEXT NOT NULL,              -- a vector is recorded under its text and its model
    created_at  INTEGER NOT NULL
);
INSERT INTO embeddings SELECT * FROM temp.kept ORDER BY seq;
DROP TABLE temp.kept;
CREATE UNIQUE INDEX idx_embeddings_id ON embeddings(id);
CREATE UNIQUE INDEX idx_embeddings_target ON embeddings(target_type, target_id, model);
CREATE INDEX idx_embeddings_model ON embeddings(model, text_hash);

CREATE TRIGGER embeddings_gone AFTER DELETE ON embeddings
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'embeddings', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
CREATE TRIGGER embeddings_changed AFTER UPDATE OF embedding, target_type, target_id, model
ON embeddings
WHEN NEW.embedding IS NOT OLD.embedding OR NEW.target_type IS NOT OLD.target_type
  OR NEW.target_id IS NOT OLD.target_id OR NEW.model IS NOT OLD.model
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'embeddings', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;

UPDATE token_vectors
   SET codes  = codes_of_today(codes, scales, form),
       scales = scales_of_today(codes, scales, form),
       form   = form_of_today(codes, scales, form);
DROP INDEX idx_token_vectors_text;
