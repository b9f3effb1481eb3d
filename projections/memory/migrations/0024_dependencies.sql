-- Stated dependencies (G5): what follows from something becomes uncertain when that changes.

CREATE TABLE dependencies (
    id          TEXT PRIMARY KEY,
    event_id    TEXT    NOT NULL,
    said_at     INTEGER NOT NULL,       -- unix ms
    char_start  INTEGER NOT NULL,       -- of the sentence, in the event's text
    char_end    INTEGER NOT NULL,
    number      INTEGER NOT NULL,       -- the ledger record that decided it
    is_standing INTEGER NOT NULL        -- 0 once its event was edited or deleted
) WITHOUT ROWID;
CREATE INDEX idx_dependencies_event ON dependencies(event_id);

-- The words by which facts on its two sides are found.
CREATE TABLE dependency_terms (
    dependency_id TEXT    NOT NULL,
    position      INTEGER NOT NULL,
    side          TEXT    NOT NULL CHECK (side IN ('condition', 'consequence')),
    term          TEXT    NOT NULL,
    PRIMARY KEY (dependency_id, position)
) WITHOUT ROWID;
CREATE INDEX idx_dependency_terms_term ON dependency_terms(term, side);

-- Dependencies that nobody retracted.
CREATE VIEW standing_dependencies AS
SELECT * FROM dependencies AS dependency
 WHERE is_standing
   AND NOT EXISTS (SELECT 1 FROM retractions AS retraction
                    WHERE retraction.is_standing AND retraction.event_id = dependency.event_id
                      AND retraction.char_start <= dependency.char_start
                      AND retraction.char_end >= dependency.char_end);
