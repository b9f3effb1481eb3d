-- The number of deletions and changes of indexed rows, by which an index of an older state knows that
-- it must be rebuilt.

CREATE TABLE lineage (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
);
INSERT INTO lineage VALUES (1, 0);

CREATE TRIGGER facts_gone AFTER DELETE ON facts
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
CREATE TRIGGER facts_changed AFTER UPDATE OF text, source_event_id ON facts
WHEN NEW.text IS NOT OLD.text OR NEW.source_event_id IS NOT OLD.source_event_id
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
