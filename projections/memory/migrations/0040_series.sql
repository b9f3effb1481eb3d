-- Observations of one more kind: series of values (B8). The same table, its indexes, triggers and view.

CREATE TEMP TABLE versions_before AS SELECT * FROM observation_versions;
DROP VIEW standing_observations;
DROP TABLE observation_versions;
CREATE TABLE observation_versions (
    analysis_run_id TEXT PRIMARY KEY,
    cluster_id      TEXT    NOT NULL,
    kind            TEXT    NOT NULL CHECK (kind IN ('cluster', 'changes', 'list', 'history', 'regular',
                                                     'ahead', 'cycle', 'correlation', 'series',
                                                     'shared')),
    entity_id       TEXT    NOT NULL,
    label           TEXT    NOT NULL,   -- the topic in words
    number          INTEGER NOT NULL    -- the ledger record that wrote this version
) WITHOUT ROWID;
INSERT INTO observation_versions SELECT * FROM versions_before;
DROP TABLE versions_before;
CREATE INDEX idx_observation_versions_cluster ON observation_versions(cluster_id, number);
CREATE INDEX idx_observation_versions_entity ON observation_versions(entity_id);
CREATE INDEX idx_observation_versions_number ON observation_versions(number);
CREATE TRIGGER observation_version_put AFTER INSERT ON observation_versions
BEGIN
    INSERT INTO outdated_runs VALUES (NEW.analysis_run_id);
    INSERT INTO outdated_runs
    SELECT analysis_run_id FROM observation_versions
     WHERE cluster_id = NEW.cluster_id AND number < NEW.number ORDER BY number DESC LIMIT 1;
END;
CREATE TRIGGER observation_version_gone AFTER DELETE ON observation_versions
BEGIN
    INSERT INTO outdated_clusters VALUES (OLD.cluster_id);
END;

CREATE VIEW standing_observations AS
SELECT version.* FROM observation_versions AS version
  JOIN analysis_runs AS run ON run.id = version.analysis_run_id
 WHERE run.output_text IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM observation_versions AS newer
                    WHERE newer.cluster_id = version.cluster_id
                      AND newer.number > version.number);
