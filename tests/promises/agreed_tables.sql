-- Tables, columns, defaults, checks and indexes as they were agreed in 000 (001 and 003 change none of
-- these). Of the tables that it leaves as they are it names no columns: those are in test_agreed.py.

CREATE TABLE facts (
    id              TEXT PRIMARY KEY,
    text            TEXT NOT NULL,
    context         TEXT,
    as_of           INTEGER NOT NULL,
    ingested_at     INTEGER NOT NULL,
    source_event_id TEXT,
    is_consolidated BOOLEAN DEFAULT FALSE,
    access_count    INTEGER DEFAULT 0,
    metadata        TEXT,
    created_at      INTEGER NOT NULL
);
CREATE INDEX idx_facts_as_of ON facts(as_of DESC);
CREATE INDEX idx_facts_ingested_at ON facts(ingested_at DESC);
CREATE INDEX idx_facts_source_event ON facts(source_event_id);
CREATE INDEX idx_facts_unconsolidated ON facts(is_consolidated) WHERE is_consolidated = FALSE;
CREATE INDEX idx_facts_access ON facts(access_count DESC);

CREATE TABLE fact_entities (
    fact_id     TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    entity_id   TEXT NOT NULL,
    PRIMARY KEY (fact_id, entity_id)
);
CREATE INDEX idx_fact_entities_entity ON fact_entities(entity_id);
CREATE INDEX idx_fact_entities_fact ON fact_entities(fact_id);

CREATE TABLE causal_links (
    from_fact_id TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    to_fact_id   TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    strength     REAL NOT NULL CHECK (strength >= 0.0 AND strength <= 1.0),
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (from_fact_id, to_fact_id)
);
CREATE INDEX idx_causal_links_to ON causal_links(to_fact_id);

CREATE TABLE observation_facts (
    analysis_run_id TEXT NOT NULL REFERENCES analysis_runs(id) ON DELETE CASCADE,
    fact_id         TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    PRIMARY KEY (analysis_run_id, fact_id)
);
CREATE INDEX idx_observation_facts_fact ON observation_facts(fact_id);
CREATE INDEX idx_observation_facts_run ON observation_facts(analysis_run_id);

CREATE TABLE memory_processing_log (
    event_id        TEXT PRIMARY KEY,
    processed_at    INTEGER NOT NULL,
    writer_run_id   TEXT,
    created_at      INTEGER NOT NULL
);
CREATE INDEX idx_memory_processing_log_processed ON memory_processing_log(processed_at DESC);

CREATE TABLE episodes (
    id              TEXT PRIMARY KEY,
    definition_id   TEXT NOT NULL REFERENCES episode_definitions(id),
    platform        TEXT,
    thread_id       TEXT,
    start_time      INTEGER NOT NULL,
    end_time        INTEGER NOT NULL,
    event_count     INTEGER NOT NULL,
    first_event_id  TEXT,
    last_event_id   TEXT,
    parent_id       TEXT REFERENCES episodes(id),
    created_at      INTEGER NOT NULL
);
CREATE INDEX idx_episodes_definition ON episodes(definition_id);
CREATE INDEX idx_episodes_platform ON episodes(platform);
CREATE INDEX idx_episodes_thread ON episodes(thread_id);
CREATE INDEX idx_episodes_time ON episodes(start_time, end_time);
CREATE INDEX idx_episodes_parent ON episodes(parent_id);

CREATE TABLE analysis_runs (
    id               TEXT PRIMARY KEY,
    analysis_type_id TEXT NOT NULL REFERENCES analysis_types(id),
    episode_id       TEXT NOT NULL REFERENCES episodes(id),
    parent_id        TEXT REFERENCES analysis_runs(id),
    status           TEXT NOT NULL,
    started_at       INTEGER,
    completed_at     INTEGER,
    output_text      TEXT,
    error_message    TEXT,
    blocked_reason   TEXT,
    retry_count      INTEGER DEFAULT 0,
    access_count     INTEGER DEFAULT 0,
    is_stale         BOOLEAN DEFAULT FALSE,
    created_at       INTEGER NOT NULL,
    UNIQUE(analysis_type_id, episode_id)
);
CREATE INDEX idx_analysis_runs_type ON analysis_runs(analysis_type_id);
CREATE INDEX idx_analysis_runs_episode ON analysis_runs(episode_id);
CREATE INDEX idx_analysis_runs_status ON analysis_runs(status);
CREATE INDEX idx_analysis_runs_parent ON analysis_runs(parent_id);
CREATE INDEX idx_analysis_runs_stale ON analysis_runs(is_stale) WHERE is_stale = TRUE;

CREATE TABLE facets (
    id              TEXT PRIMARY KEY,
    analysis_run_id TEXT NOT NULL REFERENCES analysis_runs(id) ON DELETE CASCADE,
    episode_id      TEXT NOT NULL REFERENCES episodes(id) ON DELETE CASCADE,
    facet_type      TEXT NOT NULL,
    value           TEXT NOT NULL,
    entity_id       TEXT,
    confidence      REAL,
    metadata_json   TEXT,
    created_at      INTEGER NOT NULL
);

CREATE TABLE mental_models (
    id              TEXT PRIMARY KEY,
    name            TEXT NOT NULL,
    description     TEXT NOT NULL,
    subtype         TEXT,
    entity_id       TEXT,
    tags            TEXT,
    parent_id       TEXT REFERENCES mental_models(id),
    is_stale        BOOLEAN DEFAULT FALSE,
    refresh_trigger TEXT,
    last_refreshed  INTEGER,
    access_count    INTEGER DEFAULT 0,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
);
CREATE INDEX idx_mental_models_entity ON mental_models(entity_id);
CREATE INDEX idx_mental_models_parent ON mental_models(parent_id);
CREATE INDEX idx_mental_models_stale ON mental_models(is_stale) WHERE is_stale = TRUE;

CREATE TABLE embeddings (
    id           TEXT PRIMARY KEY,
    target_type  TEXT NOT NULL,
    target_id    TEXT NOT NULL,
    model        TEXT NOT NULL,
    embedding    BLOB NOT NULL,
    dimension    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    UNIQUE(target_type, target_id, model)
);
CREATE INDEX idx_embeddings_target ON embeddings(target_type, target_id);
CREATE INDEX idx_embeddings_model ON embeddings(model);
