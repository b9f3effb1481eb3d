-- Mental models that are made from the facts about an entity (A12, A24), and directives (G4).

CREATE TABLE mental_model_pages (
    model_id    TEXT PRIMARY KEY,
    entities    TEXT    NOT NULL,       -- JSON: the entity and all that are merged with it
    blocks      TEXT    NOT NULL,       -- JSON: [section, id, start, end, rank, [fact id]] of each
    note_end    INTEGER NOT NULL,       -- characters at the beginning that were written by hand
    replaced_by TEXT                    -- the version about the merged entity
) WITHOUT ROWID;

-- The records that brought a mental model up to date.
CREATE TABLE mental_model_refreshes (
    model_id TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    at       INTEGER NOT NULL,          -- unix ms
    PRIMARY KEY (model_id, number)
) WITHOUT ROWID;

-- Records that considered which mental models are due for a refresh.
CREATE TABLE refresh_ticks (number INTEGER PRIMARY KEY);

-- The records that merged an entity with another, or undid that.
CREATE TABLE entity_changes (
    entity_id TEXT    NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (entity_id, number)
) WITHOUT ROWID;

-- What a page about an entity needs to know of each fact about it.
CREATE TABLE entity_facts (
    entity_id TEXT    NOT NULL,
    fact_id   TEXT    NOT NULL,
    event_id  TEXT    NOT NULL,
    sources   TEXT    NOT NULL,         -- JSON: the running numbers of the events that it quotes
    text      TEXT    NOT NULL,
    name      TEXT    NOT NULL,         -- of the entity, in this fact
    speaker   TEXT    NOT NULL,
    said_at   INTEGER NOT NULL,         -- unix ms
    first_day TEXT,                     -- YYYY-MM-DD
    last_day  TEXT,
    attribute TEXT    NOT NULL,
    value     TEXT    NOT NULL,
    beside    TEXT    NOT NULL,         -- JSON: [id, name] of each other entity in it
    ended_at  INTEGER,                  -- unix ms
    is_told   INTEGER NOT NULL,         -- 0: nobody states it any more, or it was never true
    number    INTEGER NOT NULL,         -- the ledger record that last changed it
    PRIMARY KEY (entity_id, fact_id)
) WITHOUT ROWID;
CREATE INDEX idx_entity_facts_time ON entity_facts(entity_id, said_at);
CREATE INDEX idx_entity_facts_fact ON entity_facts(fact_id);
CREATE INDEX idx_entity_facts_number ON entity_facts(number, entity_id);
CREATE INDEX idx_entity_facts_changes ON entity_facts(entity_id, number);

CREATE TABLE directives (
    id          TEXT PRIMARY KEY,
    form        TEXT    NOT NULL,       -- what it is about
    text        TEXT    NOT NULL,
    lifts       INTEGER NOT NULL,       -- it only ends earlier directives of its form
    event_id    TEXT    NOT NULL,
    said_at     INTEGER NOT NULL,       -- unix ms
    char_start  INTEGER NOT NULL,
    char_end    INTEGER NOT NULL,
    number      INTEGER NOT NULL,       -- the ledger record that decided it
    is_standing INTEGER NOT NULL        -- 0 once its event was edited or deleted
) WITHOUT ROWID;
CREATE INDEX idx_directives_event ON directives(event_id);

-- Directives that nobody retracted, and which of them are obeyed.
CREATE VIEW standing_directives AS
SELECT * FROM directives AS directive
 WHERE is_standing
   AND NOT EXISTS (SELECT 1 FROM retractions AS retraction
                    WHERE retraction.is_standing AND retraction.event_id = directive.event_id
                      AND retraction.char_start <= directive.char_start
                      AND retraction.char_end >= directive.char_end);
CREATE VIEW obeyed_directives AS
SELECT * FROM standing_directives AS directive
 WHERE NOT lifts
   AND NOT EXISTS (SELECT 1 FROM standing_directives AS later
                    WHERE later.form = directive.form
                      AND (later.said_at, later.id) > (directive.said_at, directive.id));

CREATE TABLE mental_model_accesses (
    number   INTEGER NOT NULL,
    model_id TEXT    NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (number, model_id)
) WITHOUT ROWID;

-- access_count is a count of rows, so it does not depend on the order in which rows arrive.
CREATE TRIGGER mental_models_access_insert AFTER INSERT ON mental_model_accesses
BEGIN
    UPDATE mental_models SET access_count = access_count + NEW.count WHERE id = NEW.model_id;
END;
CREATE TRIGGER mental_models_access_delete AFTER DELETE ON mental_model_accesses
BEGIN
    UPDATE mental_models SET access_count = access_count - OLD.count WHERE id = OLD.model_id;
END;
CREATE TRIGGER mental_models_access_update AFTER UPDATE ON mental_model_accesses
BEGIN
    UPDATE mental_models SET access_count = access_count + NEW.count - OLD.count
     WHERE id = NEW.model_id;
END;
CREATE TRIGGER mental_models_access_of_new AFTER INSERT ON mental_models
WHEN EXISTS (SELECT 1 FROM mental_model_accesses WHERE model_id = NEW.id)
BEGIN
    UPDATE mental_models
       SET access_count = (SELECT sum(count) FROM mental_model_accesses WHERE model_id = NEW.id)
     WHERE id = NEW.id;
END;

-- The newest versions, but for profiles whose place that of a merged entity took.
CREATE VIEW current_mental_models (id) AS
SELECT model.id FROM mental_models AS model
 WHERE NOT EXISTS (SELECT 1 FROM mental_models AS newer WHERE newer.parent_id = model.id)
   AND NOT EXISTS (SELECT 1 FROM mental_model_pages AS page
                    WHERE page.model_id = model.id AND page.replaced_by IS NOT NULL);

-- The records that changed what is known about an entity.
CREATE VIEW changes_of_entities (entity_id, number) AS
SELECT entity_id, number FROM entity_facts
UNION ALL
SELECT entity_id, number FROM entity_changes;

-- Versions that lack a later change of what is known about their entity.
CREATE VIEW stale_mental_models (id) AS
SELECT model.id FROM mental_models AS model
 WHERE model.is_stale
    OR EXISTS (
        SELECT 1 FROM changes_of_entities AS change
         WHERE change.entity_id IN (
                   SELECT model.entity_id
                   UNION ALL
                   SELECT value FROM mental_model_pages AS page, json_each(page.entities)
                    WHERE page.model_id = model.id)
           AND change.number > max(model.number, coalesce(
                   (SELECT max(number) FROM mental_model_refreshes WHERE model_id = model.id), 0))
    );
