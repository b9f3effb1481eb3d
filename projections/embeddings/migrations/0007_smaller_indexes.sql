-- Eight digits of a text's hash tell nearly all texts apart, and whoever asks compares the rest. An id
-- follows from its target and its model, which are unique, and nobody asks for it.

DROP INDEX idx_embeddings_id;
DROP INDEX idx_embeddings_model;
CREATE INDEX idx_embeddings_model ON embeddings(model, substr(text_hash, 1, 8));
