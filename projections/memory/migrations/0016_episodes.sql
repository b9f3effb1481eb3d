-- Episodes (A9): the events that belong together under a definition.

ALTER TABLE episode_definitions ADD COLUMN parameters TEXT NOT NULL DEFAULT '{}';   -- JSON
INSERT OR IGNORE INTO episode_definitions (id, name, strategy, created_at, parameters) VALUES
    ('thread', 'thread', 'thread', 0, '{}'),
    ('session', 'session', 'session', 0, '{}'),
    ('day', 'day', 'day', 0, '{}'),
    ('time_window', 'time window', 'time_window', 0, '{"gap_minutes": 60}'),
    ('topic', 'topic', 'topic', 0, '{"gap_minutes": 360, "compared": 4, "least_words": 4}');

-- Times and numbers of events of an episode are kept by triggers.
CREATE TEMP TABLE older_episodes AS SELECT * FROM episodes;
CREATE TEMP TABLE older_episode_events AS SELECT * FROM episode_events;
DROP TABLE episode_events;
DROP TABLE episodes;
CREATE TABLE episodes (
    id             TEXT PRIMARY KEY,
    definition_id  TEXT NOT NULL REFERENCES episode_definitions(id),
    platform       TEXT,
    thread_id      TEXT,
    start_time     INTEGER NOT NULL DEFAULT 0,
    end_time       INTEGER NOT NULL DEFAULT 0,
    event_count    INTEGER NOT NULL DEFAULT 0,
    first_event_id TEXT,
    last_event_id  TEXT,
    parent_id      TEXT REFERENCES episodes(id),
    created_at     INTEGER NOT NULL
);
CREATE INDEX idx_episodes_definition ON episodes(definition_id);
CREATE INDEX idx_episodes_platform ON episodes(platform);
CREATE INDEX idx_episodes_thread ON episodes(thread_id);
CREATE INDEX idx_episodes_time ON episodes(start_time, end_time);
CREATE INDEX idx_episodes_parent ON episodes(parent_id);

CREATE TABLE episode_events (
    episode_id    TEXT    NOT NULL REFERENCES episodes(id) ON DELETE CASCADE,
    event_id      TEXT    NOT NULL,         -- events.id of events.db, by convention
    definition_id TEXT    NOT NULL,
    number        INTEGER NOT NULL,         -- the event's running number
    occurred_at   INTEGER NOT NULL,         -- unix ms
    is_standing   INTEGER NOT NULL,         -- 0: a late event moved it into another episode
    PRIMARY KEY (episode_id, event_id)
) WITHOUT ROWID;
CREATE INDEX idx_episode_events_event ON episode_events(event_id, definition_id);

INSERT INTO episodes SELECT * FROM older_episodes;
INSERT INTO episode_events
SELECT episode_id, event_id, coalesce(definition_id, ''), 0, coalesce(start_time, 0), 1
  FROM older_episode_events LEFT JOIN episodes ON episodes.id = episode_id;
DROP TABLE older_episode_events;
DROP TABLE older_episodes;

-- A version has the events of the versions before it, and its own. Ids of events are in the order of
-- their times.
CREATE TRIGGER episode_events_insert AFTER INSERT ON episode_events WHEN NEW.is_standing
BEGIN
    UPDATE episodes
       SET start_time = iif(event_count = 0, NEW.occurred_at, min(start_time, NEW.occurred_at)),
           end_time = iif(event_count = 0, NEW.occurred_at, max(end_time, NEW.occurred_at)),
           first_event_id = min(coalesce(first_event_id, NEW.event_id), NEW.event_id),
           last_event_id = max(coalesce(last_event_id, NEW.event_id), NEW.event_id),
           event_count = event_count + 1
     WHERE id IN (
               WITH RECURSIVE later (id) AS (
                   SELECT NEW.episode_id
                   UNION
                   SELECT child.id FROM later JOIN episodes AS child ON child.parent_id = later.id)
               SELECT id FROM later);
END;

-- Inserting an episode's id counts its events again, and those of its later versions.
CREATE VIEW episode_recounts (episode_id) AS SELECT NULL WHERE FALSE;
CREATE TRIGGER episode_recount INSTEAD OF INSERT ON episode_recounts
BEGIN
    UPDATE episodes
       SET (start_time, end_time, event_count, first_event_id, last_event_id) = (
               SELECT coalesce(min(occurred_at), 0), coalesce(max(occurred_at), 0), count(*),
                      min(event_id), max(event_id)
                 FROM episode_events
                WHERE is_standing AND episode_id IN (
                          WITH RECURSIVE earlier (id) AS (
                              SELECT episodes.id
                              UNION
                              SELECT version.parent_id
                                FROM earlier JOIN episodes AS version USING (id)
                               WHERE version.parent_id IS NOT NULL)
                          SELECT id FROM earlier))
     WHERE id IN (
               WITH RECURSIVE later (id) AS (
                   SELECT NEW.episode_id
                   UNION
                   SELECT child.id FROM later JOIN episodes AS child ON child.parent_id = later.id)
               SELECT id FROM later);
END;
CREATE TRIGGER episode_events_delete AFTER DELETE ON episode_events WHEN OLD.is_standing
BEGIN
    INSERT INTO episode_recounts VALUES (OLD.episode_id);
END;
CREATE TRIGGER episode_events_update AFTER UPDATE ON episode_events
WHEN (NEW.is_standing, NEW.occurred_at) IS NOT (OLD.is_standing, OLD.occurred_at)
BEGIN
    INSERT INTO episode_recounts VALUES (NEW.episode_id);
END;
CREATE TRIGGER episodes_insert AFTER INSERT ON episodes
WHEN NEW.parent_id IS NOT NULL
  OR EXISTS (SELECT 1 FROM episode_events WHERE episode_id = NEW.id)
BEGIN
    INSERT INTO episode_recounts VALUES (NEW.id);
END;
