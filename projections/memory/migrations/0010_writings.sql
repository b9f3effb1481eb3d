-- Statistics of language model answers about events, and versions of the writer prompts (A19, A22).

CREATE TABLE writings (
    number     INTEGER PRIMARY KEY,     -- the ledger record that says so
    about      INTEGER NOT NULL,        -- the running number of the event
    model      TEXT    NOT NULL,
    role       TEXT    NOT NULL,        -- the version of the prompt
    calls      INTEGER NOT NULL,
    tokens_in  INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    cost       REAL    NOT NULL,        -- in the currency of the prices
    kept       INTEGER NOT NULL,
    repeated   INTEGER NOT NULL,
    refused    INTEGER NOT NULL,
    reasons    TEXT    NOT NULL         -- JSON: reason -> how often
);
CREATE INDEX idx_writings_about ON writings(about);

CREATE TABLE writer_texts (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,        -- role, or a note
    text       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX idx_writer_texts_name ON writer_texts(name, number);
