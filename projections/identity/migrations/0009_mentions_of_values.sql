-- Dates, times, numbers, addresses and names of no known entity are mentions too (C5), with the
-- entity_id ''. `first` and `last` are the days of a DATE or TIME, `time` its clock time (HH:MM).

DROP VIEW entity_cooccurrences;
ALTER TABLE mentions RENAME TO mentions_of_entities;
DROP INDEX idx_mentions_entity;

CREATE TABLE mentions (
    event_id          TEXT    NOT NULL,
    fact_id           TEXT    NOT NULL,
    entity_id         TEXT    NOT NULL,
    char_offset_start INTEGER NOT NULL,
    char_offset_end   INTEGER NOT NULL,
    mention_text      TEXT    NOT NULL,
    mention_type      TEXT    NOT NULL,
    confidence        REAL    NOT NULL,
    first             TEXT,
    last              TEXT,
    time              TEXT,
    PRIMARY KEY (event_id, fact_id, entity_id, char_offset_start)
) WITHOUT ROWID;
CREATE INDEX idx_mentions_entity ON mentions(entity_id, event_id) WHERE entity_id <> '';

INSERT INTO mentions
SELECT event_id, fact_id, entity_id, char_offset_start, char_offset_end, mention_text, mention_type,
       confidence, NULL, NULL, NULL
  FROM mentions_of_entities;
DROP TABLE mentions_of_entities;

-- Co-occurrences of two entities in a fact, counted at query time: nothing quadratic is stored (A8),
-- and nothing has to be subtracted when a fact is deleted.
CREATE VIEW entity_cooccurrences AS
SELECT a.entity_id                AS entity_a_id,
       b.entity_id                AS entity_b_id,
       count(DISTINCT a.fact_id)  AS count
  FROM mentions AS a
  JOIN mentions AS b
    ON b.event_id = a.event_id AND b.fact_id = a.fact_id AND b.entity_id > a.entity_id
 WHERE a.fact_id <> '' AND a.entity_id <> ''
 GROUP BY a.entity_id, b.entity_id;

-- Names have a key of their letters, shared by all types: all keys are rebuilt.

DELETE FROM name_keys;
