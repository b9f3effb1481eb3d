-- Retractions (G1): facts, or all facts of an event, that were retracted without erasing the event.

CREATE TABLE retractions (
    target_id    TEXT    NOT NULL,      -- the fact or the event that was named
    event_id     TEXT    NOT NULL,      -- an event that states it, and where, in characters
    char_start   INTEGER NOT NULL,
    char_end     INTEGER NOT NULL,
    retracted_by TEXT    NOT NULL,      -- the event of the command, or of the text in its place
    replaced_at  INTEGER,               -- NULL: it was never true
    is_standing  INTEGER NOT NULL,      -- 0: restored
    PRIMARY KEY (target_id, event_id)
) WITHOUT ROWID;
CREATE INDEX idx_retractions_event ON retractions(event_id);
CREATE INDEX idx_retractions_by ON retractions(retracted_by);

CREATE TABLE retracted_facts (
    fact_id      TEXT    NOT NULL,
    target_id    TEXT    NOT NULL,
    retracted_by TEXT    NOT NULL,
    invalid_at   INTEGER NOT NULL,
    is_void      INTEGER NOT NULL,      -- 1: it was never true, so it superseded nothing
    is_standing  INTEGER NOT NULL,
    PRIMARY KEY (fact_id, target_id)
) WITHOUT ROWID;
CREATE INDEX idx_retracted_facts_target ON retracted_facts(target_id);

CREATE VIEW void_facts (fact_id) AS
SELECT fact_id FROM retracted_facts WHERE is_standing AND is_void;
