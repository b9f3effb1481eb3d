-- An email is also found by its subject, which is stored with captions and shown after the text.

INSERT INTO events_fts(events_fts, rowid, content, caption)
SELECT 'delete', number, content, caption FROM events
WHERE platform = 'email' AND json_type(metadata, '$.subject') = 'text';

UPDATE events SET caption = trim(json_extract(metadata, '$.subject') || ' ' || caption)
WHERE platform = 'email' AND json_type(metadata, '$.subject') = 'text';

INSERT INTO events_fts(rowid, content, caption)
SELECT number, content, caption FROM events
WHERE platform = 'email' AND json_type(metadata, '$.subject') = 'text';
