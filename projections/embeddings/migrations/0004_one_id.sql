-- An id is derived from the target and the model, so it is unique.

CREATE UNIQUE INDEX idx_embeddings_id ON embeddings(id);

-- The number of the file's last migration, for readers that use SQL.
CREATE VIEW schema_version AS SELECT user_version AS version FROM pragma_user_version;
