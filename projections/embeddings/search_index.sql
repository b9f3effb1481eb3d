-- The search index over the canonical vectors of one model, which it is derived from: made anew
-- with the model or with the tables. What stands in braces is the model's, or a constant of
-- embeddings_file.py.

CREATE VIRTUAL TABLE vec_embeddings USING vec0(
    target_type TEXT partition key,
    embedding   float[{dimension}] distance_metric=cosine,
    +target_id  TEXT,
    chunk_size={chunk}
);
CREATE TRIGGER vec_embeddings_insert AFTER INSERT ON embeddings WHEN NEW.model = {model}
BEGIN
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, NEW.embedding, NEW.target_id);
END;
CREATE TRIGGER vec_embeddings_delete AFTER DELETE ON embeddings WHEN OLD.model = {model}
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
END;
CREATE TRIGGER vec_embeddings_update AFTER UPDATE ON embeddings WHEN NEW.model = {model}
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, NEW.embedding, NEW.target_id);
END;
