-- Versions of the writer prompts that a language model proposed, and the decisions on them (A22).

CREATE TABLE writer_text_proposals (
    id         TEXT    PRIMARY KEY,
    number     INTEGER NOT NULL,        -- the ledger record of the model's answers
    name       TEXT    NOT NULL,        -- role, or a note
    text       TEXT    NOT NULL,
    reason     TEXT    NOT NULL,        -- why, in the model's words
    model      TEXT    NOT NULL,
    role       TEXT    NOT NULL,        -- the version of the prompt under which it was proposed
    created_at INTEGER NOT NULL
);
CREATE INDEX idx_writer_text_proposals_number ON writer_text_proposals(number);

CREATE TABLE writer_text_decisions (
    proposal_id TEXT    PRIMARY KEY,
    status      TEXT    NOT NULL,       -- accepted, rejected
    number      INTEGER NOT NULL,       -- the ledger record of the decision
    decided_at  INTEGER NOT NULL
) WITHOUT ROWID;
