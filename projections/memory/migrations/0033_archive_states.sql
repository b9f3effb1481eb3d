-- Which stored memories are in the archival store (C10), so that none of the others is searched for.

CREATE TABLE archive_states (
    id                 TEXT PRIMARY KEY,        -- of a version of a memory
    number             INTEGER NOT NULL,        -- the next four are those of `memories`
    created_at         INTEGER NOT NULL,
    invalid_at         INTEGER,
    temporal_stability TEXT,
    is_current         INTEGER NOT NULL,        -- 1 if it is the current version, and active
    is_archived        INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX idx_archive_states_stored
    ON archive_states(is_archived, is_current, created_at, number);
CREATE INDEX idx_archive_states_invalid
    ON archive_states(is_archived, is_current, invalid_at) WHERE invalid_at IS NOT NULL;
CREATE INDEX idx_archive_states_stability
    ON archive_states(is_archived, is_current, temporal_stability, created_at);

-- The table is kept equal to this view.
CREATE VIEW current_archive_states AS
SELECT memories.id, memories.number, memories.created_at, memories.invalid_at,
       memories.temporal_stability,
       version.state = 'active' AND version.superseded_by_id IS NULL AS is_current,
       coalesce(
           (SELECT is_archived FROM memory_archivals WHERE memory_id = memories.id
             ORDER BY number DESC LIMIT 1),
           memories.namespace >= 'archival/' AND memories.namespace < 'archival0', 0)
       OR EXISTS (
           SELECT 1 FROM memory_parents JOIN memory_versions AS above ON above.id = parent_id
            WHERE child_id = version.memory_id AND above.state <> 'deleted') AS is_archived
  FROM memories CROSS JOIN memory_versions AS version ON version.id = memories.id;

-- To insert a version here brings its row up to date.
CREATE VIEW outdated_archive_states (id) AS SELECT id FROM archive_states WHERE 0;
CREATE TRIGGER archive_state_outdated INSTEAD OF INSERT ON outdated_archive_states
BEGIN
    DELETE FROM archive_states WHERE id = NEW.id;
    INSERT INTO archive_states SELECT * FROM current_archive_states WHERE id = NEW.id;
END;

CREATE TRIGGER memory_put AFTER INSERT ON memories
BEGIN
    INSERT INTO outdated_archive_states VALUES (NEW.id);
END;
CREATE TRIGGER memory_changed AFTER UPDATE ON memories
BEGIN
    INSERT INTO outdated_archive_states VALUES (NEW.id);
END;
CREATE TRIGGER memory_gone AFTER DELETE ON memories
BEGIN
    INSERT INTO outdated_archive_states VALUES (OLD.id);
END;
CREATE TRIGGER memory_archival_put AFTER INSERT ON memory_archivals
BEGIN
    INSERT INTO outdated_archive_states VALUES (NEW.memory_id);
END;
CREATE TRIGGER memory_archival_changed AFTER UPDATE ON memory_archivals
BEGIN
    INSERT INTO outdated_archive_states VALUES (NEW.memory_id);
END;
CREATE TRIGGER memory_archival_gone AFTER DELETE ON memory_archivals
BEGIN
    INSERT INTO outdated_archive_states VALUES (OLD.memory_id);
END;

-- A consolidated memory keeps all versions of its memories archived.
CREATE TRIGGER memory_version_put AFTER INSERT ON memory_versions
BEGIN
    INSERT INTO outdated_archive_states VALUES (NEW.id);
    INSERT INTO outdated_archive_states
    SELECT id FROM memory_parents JOIN memory_versions ON memory_id = child_id
     WHERE parent_id = NEW.id;
END;
CREATE TRIGGER memory_version_changed AFTER UPDATE ON memory_versions
BEGIN
    INSERT INTO outdated_archive_states VALUES (NEW.id);
    INSERT INTO outdated_archive_states
    SELECT id FROM memory_parents JOIN memory_versions ON memory_id = child_id
     WHERE parent_id = NEW.id;
END;
CREATE TRIGGER memory_version_gone AFTER DELETE ON memory_versions
BEGIN
    INSERT INTO outdated_archive_states VALUES (OLD.id);
    INSERT INTO outdated_archive_states
    SELECT id FROM memory_parents JOIN memory_versions ON memory_id = child_id
     WHERE parent_id = OLD.id;
END;
CREATE TRIGGER memory_parent_put AFTER INSERT ON memory_parents
BEGIN
    INSERT INTO outdated_archive_states
    SELECT id FROM memory_versions WHERE memory_id = NEW.child_id;
END;
CREATE TRIGGER memory_parent_changed AFTER UPDATE ON memory_parents
BEGIN
    INSERT INTO outdated_archive_states
    SELECT id FROM memory_versions WHERE memory_id = NEW.child_id;
END;
CREATE TRIGGER memory_parent_gone AFTER DELETE ON memory_parents
BEGIN
    INSERT INTO outdated_archive_states
    SELECT id FROM memory_versions WHERE memory_id = OLD.child_id;
END;

INSERT INTO archive_states SELECT * FROM current_archive_states;

-- The places of memories, for their virtual paths (C20).
CREATE INDEX idx_memories_place ON memories(user_id, agent_id, namespace, created_at, number);
