-- Eight digits of a text's hash distinguish nearly all texts, and queries compare the rest. An id is
-- derived from target and model, which have a unique index, and is never looked up.

DROP INDEX idx_embeddings_id;
DROP INDEX idx_embeddings_model;
CREATE INDEX idx_embeddings_model ON embeddings(model, substr(text_hash, 1, 8));
