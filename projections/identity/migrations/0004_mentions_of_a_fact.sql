-- A fact has one source event, by which its mentions are found: an index of mentions by fact took as
-- much space as half of the table.

DROP VIEW entity_cooccurrences;
DROP INDEX idx_mentions_fact;

-- Co-occurrences of two entities in a fact, counted at query time: nothing quadratic is stored (A8),
-- and nothing has to be subtracted when a fact is deleted.
CREATE VIEW entity_cooccurrences AS
SELECT a.entity_id                AS entity_a_id,
       b.entity_id                AS entity_b_id,
       count(DISTINCT a.fact_id)  AS count
  FROM mentions AS a
  JOIN mentions AS b
    ON b.event_id = a.event_id AND b.fact_id = a.fact_id AND b.entity_id > a.entity_id
 WHERE a.fact_id <> ''
 GROUP BY a.entity_id, b.entity_id;
