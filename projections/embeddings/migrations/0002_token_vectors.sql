-- Token vectors (A13).

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
CREATE INDEX idx_token_vectors_text ON token_vectors(model, text_hash);
