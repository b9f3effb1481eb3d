-- Consolidation (A6, A11, A23): facts are cut into units, and clusters of facts about one topic of one
-- entity become observations.

CREATE TABLE fact_units (
    fact_id   TEXT PRIMARY KEY,
    event_id  TEXT    NOT NULL,
    event_number INTEGER NOT NULL,      -- the event's running number
    sources   TEXT    NOT NULL,         -- JSON: the running numbers of the events that the fact quotes
    said_at   INTEGER NOT NULL,         -- unix ms
    first_day TEXT,                     -- YYYY-MM-DD, of the days that the fact is about
    last_day  TEXT,
    units     TEXT    NOT NULL,         -- JSON: [text, who said it in these words or ""] of each
    number    INTEGER NOT NULL          -- the ledger record that decided the fact
) WITHOUT ROWID;

CREATE TABLE cluster_facts (
    cluster_id TEXT    NOT NULL,
    fact_id    TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('topic', 'changes', 'slot')),
    entity_id  TEXT    NOT NULL,
    topic      TEXT    NOT NULL,        -- a noun in the singular, or an attribute
    name       TEXT    NOT NULL,        -- of the entity, in this fact
    word       TEXT    NOT NULL,        -- the word that says the topic, or the attribute's value
    unit       INTEGER NOT NULL,        -- the unit that says it, from 0
    said_at    INTEGER NOT NULL,        -- unix ms
    number     INTEGER NOT NULL,        -- the ledger record that decided the fact
    PRIMARY KEY (cluster_id, fact_id)
) WITHOUT ROWID;
CREATE INDEX idx_cluster_facts_fact ON cluster_facts(fact_id);
CREATE INDEX idx_cluster_facts_number ON cluster_facts(number);

-- Records after which a member of a cluster is no longer so, or is so again.
CREATE TABLE cluster_changes (
    cluster_id TEXT    NOT NULL,
    number     INTEGER NOT NULL,
    PRIMARY KEY (cluster_id, number)
) WITHOUT ROWID;
CREATE INDEX idx_cluster_changes_number ON cluster_changes(number);

-- The last record that brought a cluster's observation up to date.
CREATE TABLE cluster_consolidations (
    cluster_id TEXT PRIMARY KEY,
    number     INTEGER NOT NULL
) WITHOUT ROWID;

-- Ticks: up to each, all clusters were considered.
CREATE TABLE consolidation_ticks (number INTEGER PRIMARY KEY);

CREATE TABLE observation_versions (
    analysis_run_id TEXT PRIMARY KEY,
    cluster_id      TEXT    NOT NULL,
    kind            TEXT    NOT NULL CHECK (kind IN ('cluster', 'changes', 'list', 'history')),
    entity_id       TEXT    NOT NULL,
    label           TEXT    NOT NULL,   -- the topic in words
    number          INTEGER NOT NULL    -- the ledger record that wrote this version
) WITHOUT ROWID;
CREATE INDEX idx_observation_versions_cluster ON observation_versions(cluster_id, number);
CREATE INDEX idx_observation_versions_entity ON observation_versions(entity_id);

-- The items of an observation's text, and the fact that each cites.
CREATE TABLE observation_items (
    analysis_run_id TEXT    NOT NULL,
    position        INTEGER NOT NULL,
    fact_id         TEXT    NOT NULL,
    char_start      INTEGER NOT NULL,
    char_end        INTEGER NOT NULL,
    PRIMARY KEY (analysis_run_id, position)
) WITHOUT ROWID;
CREATE INDEX idx_observation_items_fact ON observation_items(fact_id);

-- Facts since the last tick that share a cluster with two others.
CREATE VIEW unconsolidated_facts (fact_id) AS
SELECT fact.fact_id FROM cluster_facts AS fact
 WHERE fact.number > coalesce((SELECT max(number) FROM consolidation_ticks), 0)
   AND 3 <= (SELECT count(*) FROM (SELECT 1 FROM cluster_facts AS other
                                    WHERE other.cluster_id = fact.cluster_id LIMIT 3));

-- To insert a fact here brings facts.is_consolidated up to date.
CREATE VIEW outdated_facts (fact_id) AS SELECT fact_id FROM fact_units WHERE 0;
CREATE TRIGGER fact_outdated INSTEAD OF INSERT ON outdated_facts
BEGIN
    UPDATE facts SET is_consolidated =
        EXISTS (SELECT 1 FROM fact_units WHERE fact_id = NEW.fact_id)
        AND NOT EXISTS (SELECT 1 FROM unconsolidated_facts WHERE fact_id = NEW.fact_id)
     WHERE id = NEW.fact_id;
END;
CREATE TRIGGER fact_units_put AFTER INSERT ON fact_units
BEGIN
    INSERT INTO outdated_facts VALUES (NEW.fact_id);
END;
CREATE TRIGGER fact_units_gone AFTER DELETE ON fact_units
BEGIN
    INSERT INTO outdated_facts VALUES (OLD.fact_id);
END;
CREATE TRIGGER fact_with_units_put AFTER INSERT ON facts
WHEN EXISTS (SELECT 1 FROM fact_units WHERE fact_id = NEW.id)
BEGIN
    INSERT INTO outdated_facts VALUES (NEW.id);
END;
CREATE TRIGGER consolidation_tick_put AFTER INSERT ON consolidation_ticks
BEGIN
    INSERT INTO outdated_facts
    SELECT DISTINCT fact_id FROM cluster_facts
     WHERE number > coalesce((SELECT max(number) FROM consolidation_ticks
                               WHERE number < NEW.number), 0);
END;
CREATE TRIGGER consolidation_tick_gone AFTER DELETE ON consolidation_ticks
BEGIN
    INSERT INTO outdated_facts
    SELECT DISTINCT fact_id FROM cluster_facts
     WHERE number > coalesce((SELECT max(number) FROM consolidation_ticks), 0);
END;

-- Versions that a newer one has replaced, and versions that lack a later fact or change.
CREATE VIEW stale_observations (analysis_run_id) AS
SELECT analysis_run_id FROM observation_versions AS version
 WHERE EXISTS (SELECT 1 FROM observation_versions AS newer
                WHERE newer.cluster_id = version.cluster_id AND newer.number > version.number)
    OR EXISTS (SELECT 1 FROM cluster_facts AS fact JOIN cluster_consolidations AS done
                   ON done.cluster_id = fact.cluster_id
                WHERE fact.cluster_id = version.cluster_id AND fact.number > done.number)
    OR EXISTS (SELECT 1 FROM cluster_changes AS change JOIN cluster_consolidations AS done
                   ON done.cluster_id = change.cluster_id
                WHERE change.cluster_id = version.cluster_id AND change.number > done.number);

-- To insert a version or a cluster here brings analysis_runs.is_stale up to date.
CREATE VIEW outdated_runs (id) AS SELECT id FROM analysis_runs WHERE 0;
CREATE TRIGGER run_outdated INSTEAD OF INSERT ON outdated_runs
BEGIN
    UPDATE analysis_runs
       SET is_stale = EXISTS (SELECT 1 FROM stale_observations WHERE analysis_run_id = NEW.id)
     WHERE id = NEW.id;
END;
CREATE VIEW outdated_clusters (cluster_id) AS SELECT cluster_id FROM cluster_consolidations WHERE 0;
CREATE TRIGGER cluster_outdated INSTEAD OF INSERT ON outdated_clusters
BEGIN
    INSERT INTO outdated_runs
    SELECT analysis_run_id FROM observation_versions
     WHERE cluster_id = NEW.cluster_id ORDER BY number DESC LIMIT 1;
END;
CREATE TRIGGER cluster_fact_put AFTER INSERT ON cluster_facts
BEGIN
    INSERT INTO outdated_facts VALUES (NEW.fact_id);
    -- With the third fact, the cluster counts for the first two as well.
    INSERT INTO outdated_facts
    SELECT fact_id FROM cluster_facts
     WHERE cluster_id = NEW.cluster_id
       AND 3 = (SELECT count(*) FROM (SELECT 1 FROM cluster_facts AS other
                                       WHERE other.cluster_id = NEW.cluster_id LIMIT 4));
    INSERT INTO outdated_clusters VALUES (NEW.cluster_id);
END;
CREATE TRIGGER cluster_fact_gone AFTER DELETE ON cluster_facts
BEGIN
    INSERT INTO outdated_facts VALUES (OLD.fact_id);
    INSERT INTO outdated_facts
    SELECT fact_id FROM cluster_facts
     WHERE cluster_id = OLD.cluster_id
       AND 2 = (SELECT count(*) FROM (SELECT 1 FROM cluster_facts AS other
                                       WHERE other.cluster_id = OLD.cluster_id LIMIT 3));
    INSERT INTO outdated_clusters VALUES (OLD.cluster_id);
END;
CREATE TRIGGER cluster_change_put AFTER INSERT ON cluster_changes
BEGIN
    INSERT INTO outdated_clusters VALUES (NEW.cluster_id);
END;
CREATE TRIGGER cluster_change_gone AFTER DELETE ON cluster_changes
BEGIN
    INSERT INTO outdated_clusters VALUES (OLD.cluster_id);
END;
CREATE TRIGGER consolidation_put AFTER INSERT ON cluster_consolidations
BEGIN
    INSERT INTO outdated_clusters VALUES (NEW.cluster_id);
END;
CREATE TRIGGER consolidation_changed AFTER UPDATE ON cluster_consolidations
BEGIN
    INSERT INTO outdated_clusters VALUES (NEW.cluster_id);
END;
CREATE TRIGGER consolidation_gone AFTER DELETE ON cluster_consolidations
BEGIN
    INSERT INTO outdated_clusters VALUES (OLD.cluster_id);
END;
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
CREATE TRIGGER observation_run_put AFTER INSERT ON analysis_runs
WHEN EXISTS (SELECT 1 FROM observation_versions WHERE analysis_run_id = NEW.id)
BEGIN
    INSERT INTO outdated_runs VALUES (NEW.id);
END;
