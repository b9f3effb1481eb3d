-- Facts that say the same (B10): one is kept, and the others are hidden as superseded by it.

CREATE TABLE fact_merges (
    fact_id     TEXT PRIMARY KEY,
    keeper_id   TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    merged_at   INTEGER NOT NULL,       -- unix ms
    invalid_at  INTEGER NOT NULL,       -- unix ms: when the later of the two was said
    is_standing INTEGER NOT NULL        -- 0: somebody undid it
) WITHOUT ROWID;
CREATE INDEX idx_fact_merges_keeper ON fact_merges(keeper_id);

-- The earliest of the three ends of a fact.
DROP VIEW first_ends;
CREATE VIEW first_ends (fact_id, superseded_by, invalid_at) AS
SELECT own.fact_id, own.superseded_by, own.invalid_at FROM fact_supersessions AS own
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
   AND NOT EXISTS (SELECT 1 FROM fact_supersessions AS own
                    WHERE own.fact_id = merged.fact_id AND own.invalid_at <= merged.invalid_at)
   AND NOT EXISTS (SELECT 1 FROM fact_merges AS same
                    WHERE same.fact_id = merged.fact_id AND same.is_standing
                      AND same.invalid_at < merged.invalid_at)
UNION ALL
SELECT same.fact_id, same.keeper_id, same.invalid_at FROM fact_merges AS same
 WHERE same.is_standing
   AND NOT EXISTS (SELECT 1 FROM fact_supersessions AS own
                    WHERE own.fact_id = same.fact_id AND own.invalid_at <= same.invalid_at)
   AND NOT EXISTS (SELECT 1 FROM merged_supersessions AS merged
                    WHERE merged.fact_id = same.fact_id AND merged.is_standing
                      AND merged.invalid_at <= same.invalid_at);
CREATE TRIGGER fact_merge_put AFTER INSERT ON fact_merges
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER fact_merge_changed AFTER UPDATE ON fact_merges
BEGIN
    INSERT INTO outdated_ends VALUES (NEW.fact_id);
END;
CREATE TRIGGER fact_merge_gone AFTER DELETE ON fact_merges
BEGIN
    INSERT INTO outdated_ends VALUES (OLD.fact_id);
END;

-- When what facts say ceased to be so: a fact that another one repeats ends when that ends.
CREATE VIEW fact_changes (fact_id, superseded_by, invalid_at) AS
SELECT ended.fact_id, ended.superseded_by, ended.invalid_at FROM fact_ends AS ended
 WHERE NOT EXISTS (SELECT 1 FROM fact_merges AS same
                    WHERE same.fact_id = ended.fact_id AND same.is_standing
                      AND same.keeper_id = ended.superseded_by)
UNION ALL
SELECT same.fact_id, kept.superseded_by, kept.invalid_at
  FROM fact_merges AS same
  JOIN fact_ends AS ended ON ended.fact_id = same.fact_id AND ended.superseded_by = same.keeper_id
  JOIN fact_ends AS kept ON kept.fact_id = same.keeper_id
 WHERE same.is_standing;
