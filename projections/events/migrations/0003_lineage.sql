-- The number of deletions and changes of indexed rows, by which an index of an older state knows that
-- it must be rebuilt.

CREATE TABLE lineage (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
);
INSERT INTO lineage VALUES (1, 0);

CREATE TRIGGER events_gone AFTER DELETE ON events
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
CREATE TRIGGER events_changed AFTER UPDATE OF content, caption, conversation, occurred_at ON events
WHEN NEW.content IS NOT OLD.content OR NEW.caption IS NOT OLD.caption
  OR NEW.conversation IS NOT OLD.conversation OR NEW.occurred_at IS NOT OLD.occurred_at
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
