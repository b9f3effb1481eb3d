-- What only an edited or deleted message ended holds again (F7).
CREATE TABLE withdrawn_supersessions (
    fact_id       TEXT NOT NULL,
    superseded_by TEXT NOT NULL,        -- a fact or an event, as in fact_supersessions
    PRIMARY KEY (fact_id, superseded_by)
) WITHOUT ROWID;
CREATE INDEX idx_fact_supersessions_by ON fact_supersessions(superseded_by);

CREATE VIEW standing_supersessions (fact_id, superseded_by, invalid_at) AS
SELECT fact_id, superseded_by, invalid_at FROM fact_supersessions AS own
 WHERE NOT EXISTS (SELECT 1 FROM withdrawn_supersessions AS withdrawn
                    WHERE withdrawn.fact_id = own.fact_id
                      AND withdrawn.superseded_by = own.superseded_by);

-- The earliest of the three ends of a fact.
DROP VIEW first_ends;
CREATE VIEW first_ends (fact_id, superseded_by, invalid_at) AS
SELECT own.fact_id, own.superseded_by, own.invalid_at FROM standing_supersessions AS own
 WHERE NOT EXISTS (SELECT 1 FROM merged_supersessions AS merged
                    WHERE merged.fact_id = own.fact_id AND merged.is_standing
                      AND merged.invalid_at < own.invalid_at)
   AND NOT EXISTS (SELECT 1 FROM fact_merges AS same
                    WHERE same.fact_id = own.fact_id AND same.is_standing
                      AND same.invalid_at < own.invalid_at)
UNION ALL
SELECT merged.fact_id, merged.superseded_by, merged.invalid_at
  FROM merged_supersessions AS merged
 WHERE merged.is_standing
   AND NOT EXISTS (SELECT 1 FROM standing_supersessions AS own
                    WHERE own.fact_id = merged.fact_id AND own.invalid_at <= merged.invalid_at)
   AND NOT EXISTS (SELECT 1 FROM fact_merges AS same
                    WHERE same.fact_id = merged.fact_id AND same.is_standing
                      AND same.invalid_at < merged.invalid_at)
UNION ALL
SELECT same.fact_id, same.keeper_id, same.invalid_at FROM fact_merges AS same
 WHERE same.is_standing
   AND NOT EXISTS (SELECT 1 FROM standing_supersessions AS own
                    WHERE own.fact_id = same.fact_id AND own.invalid_at <= same.invalid_at)
   AND NOT EXISTS (SELECT 1 FROM merged_supersessions AS merged
                    WHERE merged.fact_id = same.fact_id AND merged.is_standing
                      AND merged.invalid_at <= same.invalid_at);

CREATE TRIGGER withdrawn_supersession_put AFTER INSERT ON withdrawn_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER withdrawn_supersession_gone AFTER DELETE ON withdrawn_supersessions
BEGIN
    INSERT INTO outdated_ends VALUES (OLD.fact_id);
END;
