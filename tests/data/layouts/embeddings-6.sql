-- As commit 5182b66 made it.

CREATE TABLE watermark (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    number       INTEGER NOT NULL,
    offset       INTEGER NOT NULL,
    hash         BLOB    NOT NULL,
    event_offset INTEGER NOT NULL,      -- where the next event is read from in `events`
    event_hash   BLOB    NOT NULL       -- of the last event's record
);
CREATE TABLE token_vectors (
    target_type TEXT NOT NULL,
    target_id   TEXT NOT NULL,
    model       TEXT NOT NULL,
    form        TEXT NOT NULL,              -- how they are compressed
    codes       BLOB NOT NULL,              -- int8, a row per token
    scales      BLOB NOT NULL,              -- little-endian float16, one per token
    units       BLOB NOT NULL,              -- little-endian uint16: tokens of each part of the text
    text_hash   TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (target_type, target_id, model)
);
CREATE TABLE lineage (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
);
INSERT INTO lineage VALUES (1, 0);
CREATE VIEW schema_version AS SELECT user_version AS version FROM pragma_user_version;
CREATE TABLE changed_rows (
    change     INTEGER PRIMARY KEY,
    table_name TEXT    NOT NULL,
    row_id     INTEGER NOT NULL
);
CREATE TRIGGER token_vectors_gone AFTER DELETE ON token_vectors
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'token_vectors', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
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
CREATE VIRTUAL TABLE vec_embeddings USING vec0(
    target_type TEXT partition key,
    embedding   int8[3] distance_metric=cosine,
    +target_id  TEXT,
    chunk_size=256
);
CREATE TRIGGER vec_embeddings_insert AFTER INSERT ON embeddings
WHEN NEW.model = 'm' AND NEW.target_type NOT IN ('event', 'fact', 'text')
BEGIN
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, vec_int8(NEW.embedding), NEW.target_id);
END;
CREATE TRIGGER vec_embeddings_delete AFTER DELETE ON embeddings
WHEN OLD.model = 'm' AND OLD.target_type NOT IN ('event', 'fact', 'text')
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
END;
CREATE TRIGGER vec_embeddings_update AFTER UPDATE ON embeddings
WHEN NEW.model = 'm' AND NEW.target_type NOT IN ('event', 'fact', 'text')
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, vec_int8(NEW.embedding), NEW.target_id);
END;

PRAGMA user_version = 6;
