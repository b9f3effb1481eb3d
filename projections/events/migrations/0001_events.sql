-- events.db: the raw turns, searchable the moment they are appended (A1).
-- Projected from the topic `events` alone, before any agent runs.

CREATE TABLE watermark (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    number INTEGER NOT NULL,        -- running number of the last event that was folded
    offset INTEGER NOT NULL,        -- where the next one is read from in the topic `events`
    hash   BLOB    NOT NULL         -- of the last event's record
);

-- The key that seals each event; excluded from the content hash.
CREATE TABLE seals (
    number INTEGER PRIMARY KEY,
    key_id BLOB    NOT NULL
);

CREATE TABLE events (
    number       INTEGER PRIMARY KEY,   -- running number in the zone
    id           TEXT    NOT NULL UNIQUE,
    kind         TEXT    NOT NULL,
    platform     TEXT    NOT NULL,
    source_id    TEXT    NOT NULL,      -- the source's own id
    sender_id    TEXT    NOT NULL,
    sender_name  TEXT,
    peer_id      TEXT,
    peer_kind    TEXT,
    thread_id    TEXT,
    session_id   TEXT,
    direction    TEXT,
    reply_to     TEXT,
    content      TEXT    NOT NULL,
    caption      TEXT    NOT NULL,      -- what the attachments show, joined
    attachments  TEXT    NOT NULL,      -- JSON array
    metadata     TEXT    NOT NULL,      -- JSON object
    turn_id      TEXT,
    utc_offset   INTEGER NOT NULL,      -- the sender's, in minutes
    conversation TEXT    NOT NULL,      -- peer, thread and session: what is said in one place
    occurred_at  INTEGER NOT NULL,      -- unix ms
    ingested_at  INTEGER NOT NULL       -- unix ms
);

CREATE INDEX idx_events_occurred_at ON events(occurred_at);
CREATE INDEX idx_events_source ON events(source_id, platform);
CREATE INDEX idx_events_conversation ON events(conversation, number);
CREATE INDEX idx_events_turn ON events(turn_id, number) WHERE turn_id IS NOT NULL;

CREATE VIEW threads AS
SELECT conversation,
       min(platform)    AS platform,
       min(thread_id)   AS thread_id,
       min(occurred_at) AS start_time,
       max(occurred_at) AS end_time,
       count(*)         AS event_count
  FROM events
 GROUP BY conversation;

CREATE VIRTUAL TABLE events_fts USING fts5(
    content,
    caption,
    content='events',
    content_rowid='number',
    tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO events_fts(events_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER events_fts_insert AFTER INSERT ON events
BEGIN
    INSERT INTO events_fts(rowid, content, caption) VALUES (NEW.number, NEW.content, NEW.caption);
END;
CREATE TRIGGER events_fts_delete AFTER DELETE ON events
BEGIN
    INSERT INTO events_fts(events_fts, rowid, content, caption)
    VALUES ('delete', OLD.number, OLD.content, OLD.caption);
END;
