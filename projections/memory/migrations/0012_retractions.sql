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

-- The end of a fact: its retraction; else what superseded it, and of what was void the next that
-- superseded that.
CREATE VIEW effective_ends (fact_id, superseded_by, invalid_at) AS
SELECT s.fact_id, s.superseded_by, s.invalid_at FROM fact_supersessions AS s
 WHERE NOT EXISTS (SELECT 1 FROM retracted_facts AS own
                    WHERE own.fact_id = s.fact_id AND own.is_standing)
   AND NOT EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = s.superseded_by)
UNION ALL
SELECT r.fact_id, r.retracted_by, r.invalid_at FROM retracted_facts AS r
 WHERE r.is_standing
   AND NOT EXISTS (SELECT 1 FROM retracted_facts AS other
                    WHERE other.fact_id = r.fact_id AND other.is_standing
                      AND (other.is_void, other.target_id) > (r.is_void, r.target_id))
UNION ALL
SELECT s.fact_id, final.superseded_by, final.invalid_at
  FROM fact_supersessions AS s JOIN fact_supersessions AS final ON final.fact_id = (
       WITH RECURSIVE chain(id) AS (
           SELECT s.superseded_by
           UNION
           SELECT next.superseded_by FROM chain
             JOIN fact_supersessions AS next ON next.fact_id = chain.id
            WHERE EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = chain.id)
       )
       SELECT chain.id FROM chain JOIN fact_supersessions AS next ON next.fact_id = chain.id
        WHERE EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = chain.id)
          AND NOT EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = next.superseded_by))
 WHERE EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = s.superseded_by)
   AND NOT EXISTS (SELECT 1 FROM retracted_facts AS own
                    WHERE own.fact_id = s.fact_id AND own.is_standing);

-- The same as a table, since joins with the view would compute all of it.
CREATE TABLE fact_ends (
    fact_id       TEXT PRIMARY KEY,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_fact_ends_by ON fact_ends(superseded_by);
INSERT INTO fact_ends SELECT * FROM fact_supersessions;

-- What a row changes: its fact, and what leads to it through void facts.

CREATE TRIGGER fact_retraction_put AFTER INSERT ON retracted_facts
BEGIN
    DELETE FROM fact_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;
CREATE TRIGGER fact_supersession_put AFTER INSERT ON fact_supersessions
BEGIN
    DELETE FROM fact_ends WHERE fact_id = NEW.fact_id;
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id = NEW.fact_id;
END;
CREATE TRIGGER void_supersession_put AFTER INSERT ON fact_supersessions
WHEN EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = NEW.fact_id)
BEGIN
    DELETE FROM fact_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;

CREATE TRIGGER fact_retraction_changed AFTER UPDATE ON retracted_facts
BEGIN
    DELETE FROM fact_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;
CREATE TRIGGER fact_supersession_changed AFTER UPDATE ON fact_supersessions
BEGIN
    DELETE FROM fact_ends WHERE fact_id = NEW.fact_id;
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id = NEW.fact_id;
END;
CREATE TRIGGER void_supersession_changed AFTER UPDATE ON fact_supersessions
WHEN EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = NEW.fact_id)
BEGIN
    DELETE FROM fact_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;

CREATE TRIGGER fact_retraction_gone AFTER DELETE ON retracted_facts
BEGIN
    DELETE FROM fact_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT OLD.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = OLD.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT OLD.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = OLD.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;
CREATE TRIGGER fact_supersession_gone AFTER DELETE ON fact_supersessions
BEGIN
    DELETE FROM fact_ends WHERE fact_id = OLD.fact_id;
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id = OLD.fact_id;
END;
CREATE TRIGGER void_supersession_gone AFTER DELETE ON fact_supersessions
WHEN EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = OLD.fact_id)
BEGIN
    DELETE FROM fact_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT OLD.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = OLD.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id IN (
        WITH RECURSIVE affected(id) AS (
            SELECT OLD.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN fact_supersessions AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = OLD.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;
