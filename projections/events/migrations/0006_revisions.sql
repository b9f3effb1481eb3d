-- Edited and deleted messages: an edit is a turn that names the message it replaces, and a deletion
-- has no text of its own.

ALTER TABLE events ADD COLUMN target TEXT;      -- of an edit: the source's own id of the message
ALTER TABLE events ADD COLUMN said_at INTEGER;  -- of an edit: when that was first said (unix ms)

CREATE INDEX idx_events_target ON events(target, platform) WHERE target IS NOT NULL;

CREATE TABLE deletions (
    number      INTEGER PRIMARY KEY,    -- running number in the zone
    id          TEXT    NOT NULL UNIQUE,
    platform    TEXT    NOT NULL,
    source_id   TEXT    NOT NULL,       -- the source's own id of the deletion
    sender_id   TEXT    NOT NULL,
    target      TEXT    NOT NULL,       -- and of the message that was deleted
    occurred_at INTEGER NOT NULL        -- unix ms
);
CREATE INDEX idx_deletions_target ON deletions(target, platform);
