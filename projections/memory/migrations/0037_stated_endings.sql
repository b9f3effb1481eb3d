-- What sentences may end, for the values that arrive later (G8).
CREATE TABLE stated_endings (
    event_id    TEXT    NOT NULL,
    position    INTEGER NOT NULL,
    role        TEXT    NOT NULL,       -- 'person', 'thing' or 'owner'
    subject     TEXT    NOT NULL,
    also        TEXT    NOT NULL,       -- JSON: its further ids
    said_at     INTEGER NOT NULL,
    ended_by    TEXT    NOT NULL,       -- a fact or an event, as in fact_supersessions
    attributes  TEXT    NOT NULL,       -- JSON: attribute -> percent
    nouns       TEXT    NOT NULL,       -- JSON: attributes
    left_values TEXT    NOT NULL,       -- JSON: attribute -> values
    percent     INTEGER NOT NULL,
    words       TEXT    NOT NULL,
    is_standing INTEGER NOT NULL,       -- 0: the event was edited or deleted
    PRIMARY KEY (event_id, position, role, subject)
) WITHOUT ROWID;
CREATE INDEX idx_stated_endings_subject ON stated_endings(subject, said_at) WHERE is_standing;

-- A supersession that was withdrawn may hold again.
ALTER TABLE withdrawn_supersessions ADD COLUMN is_withdrawn INTEGER NOT NULL DEFAULT 1;

DROP VIEW standing_supersessions;
CREATE VIEW standing_supersessions (fact_id, superseded_by, invalid_at) AS
SELECT fact_id, superseded_by, invalid_at FROM fact_supersessions AS own
 WHERE NOT EXISTS (SELECT 1 FROM withdrawn_supersessions AS withdrawn
                    WHERE withdrawn.fact_id = own.fact_id
                      AND withdrawn.superseded_by = own.superseded_by
                      AND withdrawn.is_withdrawn);

CREATE TRIGGER withdrawn_supersession_changed AFTER UPDATE ON withdrawn_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
