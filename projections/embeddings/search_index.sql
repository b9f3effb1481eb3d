-- The search index over the canonical vectors of one model, rebuilt when the model or the tables
-- change. The placeholders are filled in by embeddings_file.py.
-- Query it with WHERE embedding MATCH vec_int8(...).

CREATE VIRTUAL TABLE vec_embeddings USING vec0(
    target_type TEXT partition key,
    embedding   int8[{dimension}] distance_metric=cosine,
    +target_id  TEXT,
    chunk_size={chunk}
);
CREATE TRIGGER vec_embeddings_insert AFTER INSERT ON embeddings
WHEN NEW.model = {model} AND NEW.{searched}
BEGIN
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, vec_int8(NEW.embedding), NEW.target_id);
END;
CREATE TRIGGER vec_embeddings_delete AFTER DELETE ON embeddings
WHEN OLD.model = {model} AND OLD.{searched}
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
END;
CREATE TRIGGER vec_embeddings_update AFTER UPDATE ON embeddings
WHEN NEW.model = {model} AND NEW.{searched}
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, vec_int8(NEW.embedding), NEW.target_id);
END;
