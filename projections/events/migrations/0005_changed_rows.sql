-- The rowids of recently deleted and changed rows, so that an index removes only these.

CREATE TABLE changed_rows (
    change     INTEGER PRIMARY KEY,
    table_name TEXT    NOT NULL,
    row_id     INTEGER NOT NULL
);

DROP TRIGGER events_gone;
CREATE TRIGGER events_gone AFTER DELETE ON events
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'events', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
DROP TRIGGER events_changed;
CREATE TRIGGER events_changed AFTER UPDATE OF content, caption, conversation, occurred_at ON events
WHEN NEW.content IS NOT OLD.content OR NEW.caption IS NOT OLD.caption
  OR NEW.conversation IS NOT OLD.conversation OR NEW.occurred_at IS NOT OLD.occurred_at
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'events', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
