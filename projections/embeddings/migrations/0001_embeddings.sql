-- embeddings.db: the canonical vectors (A13). The search index over them is in search_index.sql.

CREATE TABLE watermark (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    number       INTEGER NOT NULL,
    offset       INTEGER NOT NULL,
    hash         BLOB    NOT NULL,
    event_offset INTEGER NOT NULL,      -- where the next event is read from in `events`
    event_hash   BLOB    NOT NULL       -- of the last event's record
);

CREATE TABLE embeddings (
    seq         INTEGER PRIMARY KEY,        -- the rowid of the index; of no meaning elsewhere
    id          TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id   TEXT NOT NULL,
    model       TEXT NOT NULL,
    embedding   BLOB NOT NULL,              -- little-endian float32
    dimension   INTEGER NOT NULL,
    text_hash   TEXT NOT NULL,              -- a vector is recorded under its text and its model
    created_at  INTEGER NOT NULL,
    UNIQUE (target_type, target_id, model)
);
CREATE INDEX idx_embeddings_target ON embeddings(target_type, target_id);
CREATE INDEX idx_embeddings_model ON embeddings(model, text_hash);
