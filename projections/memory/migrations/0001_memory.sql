-- memory.db: facts, episodes, analyses, mental models (A29).

CREATE TABLE watermark (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    number       INTEGER NOT NULL,      -- running number of the last event that was concluded
    offset       INTEGER NOT NULL,      -- where the next change is read from in `changes`
    hash         BLOB    NOT NULL,      -- of the last accepted change record
    event_offset INTEGER NOT NULL,      -- where the next event is read from in `events`
    event_hash   BLOB    NOT NULL       -- of the last event's record
);

CREATE TABLE facts (
    id              TEXT PRIMARY KEY,
    text            TEXT NOT NULL,
    context         TEXT,
    as_of           INTEGER NOT NULL,           -- when the thing happened (unix ms)
    ingested_at     INTEGER NOT NULL,           -- when it could have been known (unix ms)
    source_event_id TEXT,
    is_consolidated BOOLEAN DEFAULT FALSE,
    access_count    INTEGER DEFAULT 0,          -- the sum of fact_accesses, kept by triggers
    metadata        TEXT,
    created_at      INTEGER NOT NULL,
    signature       TEXT NOT NULL               -- near-duplicates share it (A21)
);

CREATE INDEX idx_facts_as_of ON facts(as_of DESC);
CREATE INDEX idx_facts_ingested_at ON facts(ingested_at DESC);
CREATE INDEX idx_facts_source_event ON facts(source_event_id);
CREATE INDEX idx_facts_unconsolidated ON facts(is_consolidated) WHERE is_consolidated = FALSE;
CREATE INDEX idx_facts_access ON facts(access_count DESC);
CREATE INDEX idx_facts_signature ON facts(signature, as_of);

CREATE TABLE fact_entities (
    fact_id   TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    entity_id TEXT NOT NULL,                    -- entities.id of identity.db, by convention
    PRIMARY KEY (fact_id, entity_id)
) WITHOUT ROWID;
CREATE INDEX idx_fact_entities_entity ON fact_entities(entity_id);

CREATE TABLE causal_links (
    from_fact_id TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    to_fact_id   TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    strength     REAL NOT NULL CHECK (strength >= 0.0 AND strength <= 1.0),
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (from_fact_id, to_fact_id)
);
CREATE INDEX idx_causal_links_to ON causal_links(to_fact_id);

CREATE TABLE fact_repeats (
    event_id          TEXT    NOT NULL,
    char_offset_start INTEGER NOT NULL,
    fact_id           TEXT    NOT NULL,
    reason            TEXT    NOT NULL,
    PRIMARY KEY (event_id, char_offset_start)
) WITHOUT ROWID;
CREATE INDEX idx_fact_repeats_fact ON fact_repeats(fact_id);

CREATE TABLE fact_claims (
    fact_id   TEXT PRIMARY KEY,
    subject   TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value     TEXT NOT NULL,
    as_of     INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_fact_claims_subject ON fact_claims(subject, attribute, as_of);

CREATE TABLE fact_supersessions (
    fact_id       TEXT    NOT NULL,
    superseded_by TEXT    NOT NULL,
    invalid_at    INTEGER NOT NULL,
    PRIMARY KEY (fact_id, superseded_by)
) WITHOUT ROWID;
CREATE INDEX idx_fact_supersessions_by ON fact_supersessions(superseded_by);

CREATE TABLE fact_accesses (
    number  INTEGER NOT NULL,
    fact_id TEXT    NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (number, fact_id)
) WITHOUT ROWID;
CREATE INDEX idx_fact_accesses_fact ON fact_accesses(fact_id);

CREATE TABLE memory_processing_log (
    event_id      TEXT PRIMARY KEY,
    processed_at  INTEGER NOT NULL,
    writer_run_id TEXT,
    created_at    INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_memory_processing_log_processed ON memory_processing_log(processed_at DESC);

CREATE TABLE turns (
    id           TEXT PRIMARY KEY,
    platform     TEXT    NOT NULL,
    turn_id      TEXT    NOT NULL,
    event_id     TEXT    NOT NULL,
    completed_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE dead_letters (
    number    INTEGER PRIMARY KEY,
    kind      TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    state     TEXT    NOT NULL CHECK (state IN ('parked', 'retried', 'dropped')),
    parked_at INTEGER NOT NULL
);

CREATE TABLE episode_definitions (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    strategy   TEXT NOT NULL,                   -- time_window, thread, session, topic, consolidation
    created_at INTEGER NOT NULL
);

CREATE TABLE episodes (
    id             TEXT PRIMARY KEY,
    definition_id  TEXT NOT NULL REFERENCES episode_definitions(id),
    platform       TEXT,
    thread_id      TEXT,
    start_time     INTEGER NOT NULL,
    end_time       INTEGER NOT NULL,
    event_count    INTEGER NOT NULL,
    first_event_id TEXT,
    last_event_id  TEXT,
    parent_id      TEXT REFERENCES episodes(id),
    created_at     INTEGER NOT NULL
);
CREATE INDEX idx_episodes_definition ON episodes(definition_id);
CREATE INDEX idx_episodes_platform ON episodes(platform);
CREATE INDEX idx_episodes_thread ON episodes(thread_id);
CREATE INDEX idx_episodes_time ON episodes(start_time, end_time);
CREATE INDEX idx_episodes_parent ON episodes(parent_id);

CREATE TABLE analysis_types (
    id              TEXT PRIMARY KEY,
    name            TEXT NOT NULL,
    version         TEXT NOT NULL,
    output_type     TEXT NOT NULL,
    prompt_template TEXT
);

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
    UNIQUE (analysis_type_id, episode_id)
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

CREATE TABLE observation_facts (
    analysis_run_id TEXT NOT NULL REFERENCES analysis_runs(id) ON DELETE CASCADE,
    fact_id         TEXT NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
    PRIMARY KEY (analysis_run_id, fact_id)
);
CREATE INDEX idx_observation_facts_fact ON observation_facts(fact_id);
CREATE INDEX idx_observation_facts_run ON observation_facts(analysis_run_id);

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
    updated_at      INTEGER NOT NULL,
    number          INTEGER NOT NULL            -- the ledger record that wrote this version
);
CREATE INDEX idx_mental_models_entity ON mental_models(entity_id);
CREATE INDEX idx_mental_models_parent ON mental_models(parent_id);
CREATE INDEX idx_mental_models_stale ON mental_models(is_stale) WHERE is_stale = TRUE;

INSERT INTO analysis_types (id, name, version, output_type)
VALUES ('observation_v1', 'observation_v1', '1.0', 'freeform');
INSERT INTO episode_definitions (id, name, strategy, created_at)
VALUES ('consolidation', 'consolidation', 'consolidation', 0);

CREATE VIRTUAL TABLE facts_fts USING fts5(
    text,
    content='facts',
    content_rowid='rowid',
    tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO facts_fts(facts_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER facts_fts_insert AFTER INSERT ON facts
BEGIN
    INSERT INTO facts_fts(rowid, text) VALUES (NEW.rowid, NEW.text);
END;
CREATE TRIGGER facts_fts_delete AFTER DELETE ON facts
BEGIN
    INSERT INTO facts_fts(facts_fts, rowid, text) VALUES ('delete', OLD.rowid, OLD.text);
END;
CREATE TRIGGER facts_fts_update AFTER UPDATE OF text ON facts WHEN NEW.text IS NOT OLD.text
BEGIN
    INSERT INTO facts_fts(facts_fts, rowid, text) VALUES ('delete', OLD.rowid, OLD.text);
    INSERT INTO facts_fts(rowid, text) VALUES (NEW.rowid, NEW.text);
END;

-- access_count is a count of rows, so it does not depend on the order in which rows arrive.
CREATE TRIGGER facts_access_insert AFTER INSERT ON fact_accesses
BEGIN
    UPDATE facts SET access_count = access_count + NEW.count WHERE id = NEW.fact_id;
END;
CREATE TRIGGER facts_access_delete AFTER DELETE ON fact_accesses
BEGIN
    UPDATE facts SET access_count = access_count - OLD.count WHERE id = OLD.fact_id;
END;
CREATE TRIGGER facts_access_update AFTER UPDATE ON fact_accesses
BEGIN
    UPDATE facts SET access_count = access_count + NEW.count - OLD.count WHERE id = NEW.fact_id;
END;
CREATE TRIGGER facts_access_of_new AFTER INSERT ON facts
WHEN EXISTS (SELECT 1 FROM fact_accesses WHERE fact_id = NEW.id)
BEGIN
    UPDATE facts
       SET access_count = (SELECT sum(count) FROM fact_accesses WHERE fact_id = NEW.id)
     WHERE id = NEW.id;
END;
