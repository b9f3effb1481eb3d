-- One supersession per fact: of several, the one written last is kept.

CREATE TEMP TABLE ends AS SELECT fact_id, superseded_by, invalid_at FROM fact_supersessions;
DROP TABLE fact_supersessions;
CREATE TABLE fact_supersessions (
    fact_id       TEXT PRIMARY KEY,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_fact_supersessions_by ON fact_supersessions(superseded_by);
INSERT OR REPLACE INTO fact_supersessions
SELECT fact_id, superseded_by, invalid_at FROM temp.ends ORDER BY invalid_at, superseded_by;
DROP TABLE temp.ends;
