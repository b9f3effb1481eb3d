-- Sessions follow merges (A18): whoever had sessions as `alias_id` is reached as `entity_id`, at the
-- end of the merges that stand. It is read from them, so it changes in the transaction in which a
-- merge is executed or undone, and never alone.

CREATE VIEW session_aliases AS
WITH RECURSIVE onward(alias_id, entity_id) AS (
    SELECT id, merged_into FROM entities WHERE merged_into IS NOT NULL
    UNION
    SELECT onward.alias_id, entities.merged_into
      FROM onward
      JOIN entities ON entities.id = onward.entity_id
     WHERE entities.merged_into IS NOT NULL
)
SELECT onward.alias_id,
       onward.entity_id
  FROM onward
  JOIN entities ON entities.id = onward.entity_id
 WHERE entities.merged_into IS NULL;

-- A first name is found under what it is a nickname of too: the keys of all names are made again.

DELETE FROM name_keys;
