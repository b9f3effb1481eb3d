-- Slots follow merges and their undoing (fault 48). What one person's own facts supersede stays in
-- fact_supersessions, as if there were no merge; what the other person's facts supersede is apart.

CREATE TABLE merged_supersessions (
    fact_id       TEXT PRIMARY KEY,
    subject       TEXT    NOT NULL,     -- of the fact's claim, as is the attribute
    attribute     TEXT    NOT NULL,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL,
    is_standing   INTEGER NOT NULL      -- 0: the merge was undone, or another order of claims known
) WITHOUT ROWID;
CREATE INDEX idx_merged_supersessions_subject ON merged_supersessions(subject, attribute);

-- The earlier of the two ends of a fact.
CREATE VIEW first_ends (fact_id, superseded_by, invalid_at) AS
SELECT own.fact_id, own.superseded_by, own.invalid_at FROM fact_supersessions AS own
 WHERE NOT EXISTS (SELECT 1 FROM merged_supersessions AS merged
                    WHERE merged.fact_id = own.fact_id AND merged.is_standing
                      AND merged.invalid_at < own.invalid_at)
UNION ALL
SELECT merged.fact_id, merged.superseded_by, merged.invalid_at
  FROM merged_supersessions AS merged
 WHERE merged.is_standing
   AND NOT EXISTS (SELECT 1 FROM fact_supersessions AS own
                    WHERE own.fact_id = merged.fact_id AND own.invalid_at <= merged.invalid_at);

-- The ends of facts as tables, since joins with the views would compute all of them: before
-- retractions, and after.
CREATE TABLE stated_ends (
    fact_id       TEXT PRIMARY KEY,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_stated_ends_by ON stated_ends(superseded_by);
CREATE TABLE fact_ends (
    fact_id       TEXT PRIMARY KEY,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_fact_ends_by ON fact_ends(superseded_by);
INSERT INTO stated_ends SELECT * FROM fact_supersessions;
INSERT INTO fact_ends SELECT * FROM fact_supersessions;
DROP INDEX idx_fact_supersessions_by;

-- The end of a fact: its retraction; else what superseded it, and of what was void the next that
-- superseded that.
CREATE VIEW effective_ends (fact_id, superseded_by, invalid_at) AS
SELECT s.fact_id, s.superseded_by, s.invalid_at FROM stated_ends AS s
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
  FROM stated_ends AS s JOIN stated_ends AS final ON final.fact_id = (
       WITH RECURSIVE chain(id) AS (
           SELECT s.superseded_by
           UNION
           SELECT next.superseded_by FROM chain
             JOIN stated_ends AS next ON next.fact_id = chain.id
            WHERE EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = chain.id)
       )
       SELECT chain.id FROM chain JOIN stated_ends AS next ON next.fact_id = chain.id
        WHERE EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = chain.id)
          AND NOT EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = next.superseded_by))
 WHERE EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = s.superseded_by)
   AND NOT EXISTS (SELECT 1 FROM retracted_facts AS own
                    WHERE own.fact_id = s.fact_id AND own.is_standing);

-- To insert a fact here brings its end after retractions up to date.
CREATE VIEW outdated_fact_ends (fact_id) AS SELECT fact_id FROM fact_ends WHERE 0;
CREATE TRIGGER fact_end_outdated INSTEAD OF INSERT ON outdated_fact_ends
BEGIN
    DELETE FROM fact_ends WHERE fact_id = NEW.fact_id;
    INSERT INTO fact_ends SELECT * FROM effective_ends WHERE fact_id = NEW.fact_id;
END;

-- To insert a fact here brings its two ends up to date, and those of facts whose supersession leads
-- to it through void facts.
CREATE VIEW outdated_ends (fact_id) AS SELECT fact_id FROM fact_ends WHERE 0;
CREATE TRIGGER end_outdated INSTEAD OF INSERT ON outdated_ends
BEGIN
    DELETE FROM stated_ends WHERE fact_id = NEW.fact_id;
    INSERT INTO stated_ends SELECT * FROM first_ends WHERE fact_id = NEW.fact_id;
    INSERT INTO outdated_fact_ends
    SELECT id FROM (
        WITH RECURSIVE affected(id) AS (
            SELECT NEW.fact_id
            UNION
            SELECT s.fact_id FROM affected JOIN stated_ends AS s
                ON s.superseded_by = affected.id
             WHERE affected.id = NEW.fact_id
                OR EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = affected.id)
        )
        SELECT id FROM affected);
END;

CREATE TRIGGER supersession_put AFTER INSERT ON fact_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER supersession_changed AFTER UPDATE ON fact_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER supersession_gone AFTER DELETE ON fact_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (OLD.fact_id);
END;
CREATE TRIGGER merged_supersession_put AFTER INSERT ON merged_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER merged_supersession_changed AFTER UPDATE ON merged_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER merged_supersession_gone AFTER DELETE ON merged_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (OLD.fact_id);
END;
CREATE TRIGGER retraction_put AFTER INSERT ON retracted_facts
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER retraction_changed AFTER UPDATE ON retracted_facts
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER retraction_gone AFTER DELETE ON retracted_facts
BEGIN
    INSERT INTO outdated_ends VALUES (OLD.fact_id);
END;
