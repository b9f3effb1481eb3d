-- The rowids of recently deleted and changed rows, so that an index removes only these.

CREATE TABLE changed_rows (
    change     INTEGER PRIMARY KEY,
    table_name TEXT    NOT NULL,
    row_id     INTEGER NOT NULL
);

DROP TRIGGER facts_gone;
CREATE TRIGGER facts_gone AFTER DELETE ON facts
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'facts', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
DROP TRIGGER facts_changed;
CREATE TRIGGER facts_changed AFTER UPDATE OF text, source_event_id ON facts
WHEN NEW.text IS NOT OLD.text OR NEW.source_event_id IS NOT OLD.source_event_id
BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, 'facts', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - 100000;
END;
