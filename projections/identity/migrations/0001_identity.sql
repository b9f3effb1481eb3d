-- identity.db: one store for people, handles, organisations, projects, places and concepts (A15).

CREATE TABLE watermark (
    id           INTEGER PRIMARY KEY CHECK (id = 1),
    number       INTEGER NOT NULL,
    offset       INTEGER NOT NULL,
    hash         BLOB    NOT NULL,
    event_offset INTEGER NOT NULL,      -- where the next event is read from in `events`
    event_hash   BLOB    NOT NULL       -- of the last event's record
);

CREATE TABLE entities (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    normalized  TEXT NOT NULL,
    source      TEXT NOT NULL CHECK (source IN ('delivery', 'inferred', 'command')),
    merged_into TEXT REFERENCES entities(id),   -- follows from merges, kept by triggers
    created_at  INTEGER NOT NULL
);
CREATE INDEX idx_entities_normalized ON entities(normalized, type);
CREATE INDEX idx_entities_type ON entities(type);
CREATE INDEX idx_entities_merged ON entities(merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE handles (
    id           TEXT PRIMARY KEY,
    platform     TEXT NOT NULL,
    handle       TEXT NOT NULL,
    entity_id    TEXT NOT NULL REFERENCES entities(id),
    display_name TEXT,
    created_at   INTEGER NOT NULL,
    UNIQUE (platform, handle)
) WITHOUT ROWID;
CREATE INDEX idx_handles_entity ON handles(entity_id);

CREATE TABLE mentions (
    event_id          TEXT    NOT NULL,
    fact_id           TEXT    NOT NULL,
    entity_id         TEXT    NOT NULL REFERENCES entities(id),
    char_offset_start INTEGER NOT NULL,
    char_offset_end   INTEGER NOT NULL,
    mention_text      TEXT    NOT NULL,
    mention_type      TEXT    NOT NULL,
    confidence        REAL    NOT NULL,
    PRIMARY KEY (event_id, fact_id, entity_id, char_offset_start)
) WITHOUT ROWID;
CREATE INDEX idx_mentions_entity ON mentions(entity_id, event_id);
CREATE INDEX idx_mentions_fact ON mentions(fact_id) WHERE fact_id <> '';

CREATE TABLE entity_tags (
    entity_id  TEXT NOT NULL REFERENCES entities(id),
    tag        TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (entity_id, tag)
) WITHOUT ROWID;

CREATE TABLE merge_candidates (
    id          TEXT PRIMARY KEY,
    entity_a_id TEXT NOT NULL REFERENCES entities(id),
    entity_b_id TEXT NOT NULL REFERENCES entities(id),
    confidence  REAL NOT NULL,
    reason      TEXT NOT NULL,
    status      TEXT NOT NULL DEFAULT 'pending',    -- follows from merge_decisions
    created_at  INTEGER NOT NULL
);
CREATE INDEX idx_merge_candidates_status ON merge_candidates(status);

CREATE TABLE merge_decisions (
    candidate_id TEXT PRIMARY KEY,
    status       TEXT NOT NULL CHECK (status IN ('executed', 'rejected')),
    decided_at   INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE merges (
    id          TEXT PRIMARY KEY,
    winner_id   TEXT NOT NULL REFERENCES entities(id),
    loser_id    TEXT NOT NULL REFERENCES entities(id),
    confidence  REAL NOT NULL,
    reason      TEXT NOT NULL,
    executed_at INTEGER NOT NULL,
    undone_at   INTEGER                             -- follows from merge_undos
);
CREATE INDEX idx_merges_loser ON merges(loser_id);

CREATE TABLE merge_undos (
    merge_id  TEXT PRIMARY KEY,
    undone_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Derived values are maintained by triggers, in whatever order the rows arrive, so that a decision
-- need not repeat the content of what it decides.
CREATE TRIGGER merge_decisions_insert AFTER INSERT ON merge_decisions
BEGIN
    UPDATE merge_candidates SET status = NEW.status WHERE id = NEW.candidate_id;
END;
CREATE TRIGGER merge_decisions_update AFTER UPDATE ON merge_decisions
BEGIN
    UPDATE merge_candidates SET status = NEW.status WHERE id = NEW.candidate_id;
END;
CREATE TRIGGER merge_decisions_delete AFTER DELETE ON merge_decisions
BEGIN
    UPDATE merge_candidates SET status = 'pending' WHERE id = OLD.candidate_id;
END;
CREATE TRIGGER merge_decisions_of_new AFTER INSERT ON merge_candidates
WHEN EXISTS (SELECT 1 FROM merge_decisions WHERE candidate_id = NEW.id)
BEGIN
    UPDATE merge_candidates
       SET status = (SELECT status FROM merge_decisions WHERE candidate_id = NEW.id)
     WHERE id = NEW.id;
END;
CREATE TRIGGER merge_undos_insert AFTER INSERT ON merge_undos
BEGIN
    UPDATE merges SET undone_at = NEW.undone_at WHERE id = NEW.merge_id;
END;
CREATE TRIGGER merge_undos_update AFTER UPDATE ON merge_undos
BEGIN
    UPDATE merges SET undone_at = NEW.undone_at WHERE id = NEW.merge_id;
END;
CREATE TRIGGER merge_undos_delete AFTER DELETE ON merge_undos
BEGIN
    UPDATE merges SET undone_at = NULL WHERE id = OLD.merge_id;
END;
CREATE TRIGGER merge_undos_of_new AFTER INSERT ON merges
WHEN EXISTS (SELECT 1 FROM merge_undos WHERE merge_id = NEW.id)
BEGIN
    UPDATE merges
       SET undone_at = (SELECT undone_at FROM merge_undos WHERE merge_id = NEW.id)
     WHERE id = NEW.id;
END;

-- An entity is merged into the winner of its latest merge that was not undone, in whatever order the
-- rows arrive.
CREATE TRIGGER entities_merge_insert AFTER INSERT ON merges
BEGIN
    UPDATE entities
       SET merged_into = (
               SELECT winner_id FROM merges WHERE loser_id = NEW.loser_id AND undone_at IS NULL
                ORDER BY executed_at DESC, id DESC LIMIT 1)
     WHERE id = NEW.loser_id;
END;
CREATE TRIGGER entities_merge_update AFTER UPDATE ON merges
BEGIN
    UPDATE entities
       SET merged_into = (
               SELECT winner_id FROM merges WHERE loser_id = NEW.loser_id AND undone_at IS NULL
                ORDER BY executed_at DESC, id DESC LIMIT 1)
     WHERE id = NEW.loser_id;
END;
CREATE TRIGGER entities_merge_delete AFTER DELETE ON merges
BEGIN
    UPDATE entities
       SET merged_into = (
               SELECT winner_id FROM merges WHERE loser_id = OLD.loser_id AND undone_at IS NULL
                ORDER BY executed_at DESC, id DESC LIMIT 1)
     WHERE id = OLD.loser_id;
END;
CREATE TRIGGER entities_merge_of_new AFTER INSERT ON entities
WHEN EXISTS (SELECT 1 FROM merges WHERE loser_id = NEW.id)
BEGIN
    UPDATE entities
       SET merged_into = (
               SELECT winner_id FROM merges WHERE loser_id = NEW.id AND undone_at IS NULL
                ORDER BY executed_at DESC, id DESC LIMIT 1)
     WHERE id = NEW.id;
END;

-- Co-occurrences of two entities in a fact, counted at query time: nothing quadratic is stored (A8),
-- and nothing has to be subtracted when a fact is deleted.
CREATE VIEW entity_cooccurrences AS
SELECT a.entity_id                AS entity_a_id,
       b.entity_id                AS entity_b_id,
       count(DISTINCT a.fact_id)  AS count
  FROM mentions AS a
  JOIN mentions AS b ON b.fact_id = a.fact_id AND b.entity_id > a.entity_id
 WHERE a.fact_id <> ''
 GROUP BY a.entity_id, b.entity_id;
