-- An id follows from the target and the model, so no two rows have the same.

CREATE UNIQUE INDEX idx_embeddings_id ON embeddings(id);

-- The number of the file's last migration, for whoever reads it with SQL.
CREATE VIEW schema_version AS SELECT user_version AS version FROM pragma_user_version;
