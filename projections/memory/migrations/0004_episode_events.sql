-- The events of an episode (A9).

CREATE TABLE episode_events (
    episode_id TEXT NOT NULL REFERENCES episodes(id) ON DELETE CASCADE,
    event_id   TEXT NOT NULL,                   -- events.id of events.db, by convention
    PRIMARY KEY (episode_id, event_id)
) WITHOUT ROWID;
CREATE INDEX idx_episode_events_event ON episode_events(event_id);

-- The primary key begins with the same column, but A29 requires this index too.
CREATE INDEX idx_fact_entities_fact ON fact_entities(fact_id);

-- The number of the file's last migration, for readers that use SQL.
CREATE VIEW schema_version AS SELECT user_version AS version FROM pragma_user_version;
