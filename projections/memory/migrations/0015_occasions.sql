-- Repetitions are counted (fault 51): a repeated claim stays one fact, with a row for each occasion.

CREATE TABLE fact_occasions (
    fact_id     TEXT    NOT NULL,
    event_id    TEXT    NOT NULL,
    char_start  INTEGER NOT NULL,       -- position in the event's text; -1: the event that first stated it
    said_at     INTEGER NOT NULL,       -- unix ms
    text        TEXT    NOT NULL,       -- the statement of this event, in the third person
    reason      TEXT    NOT NULL,       -- why it is the same claim
    is_standing INTEGER NOT NULL,       -- 0: the event was edited or deleted
    PRIMARY KEY (fact_id, event_id)
) WITHOUT ROWID;
CREATE INDEX idx_fact_occasions_event ON fact_occasions(event_id);

-- Used to find statements of the same value of the same slot in other words.
CREATE TABLE claim_signatures (
    fact_id   TEXT PRIMARY KEY,
    signature TEXT    NOT NULL,
    as_of     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_claim_signatures ON claim_signatures(signature, as_of);

-- When a fact was repeated. Rows of fact_repeats are of earlier builds: their time is that of the
-- event's id, the first ten digits of a ULID.
CREATE VIEW occasions (fact_id, event_id, char_start, said_at) AS
SELECT fact_id, event_id, char_start, said_at FROM fact_occasions WHERE is_standing
UNION ALL
SELECT old.fact_id, old.event_id, old.char_offset_start, (
           SELECT sum((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ',
                             substr(old.event_id, digit.value, 1)) - 1) << (50 - 5 * digit.value))
             FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]') AS digit)
  FROM fact_repeats AS old
 WHERE NOT EXISTS (SELECT 1 FROM fact_occasions AS new
                    WHERE new.fact_id = old.fact_id AND new.event_id = old.event_id);

-- Every event that states a fact, and when; its own event unless that was edited or deleted.
CREATE VIEW statements (fact_id, event_id, said_at) AS
SELECT id, source_event_id, as_of FROM facts
 WHERE NOT EXISTS (SELECT 1 FROM fact_occasions AS own
                    WHERE own.fact_id = facts.id AND own.event_id = facts.source_event_id
                      AND NOT own.is_standing)
UNION
SELECT fact_id, event_id, said_at FROM occasions;
