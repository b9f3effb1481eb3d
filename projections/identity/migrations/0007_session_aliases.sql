-- Sessions follow merges (A18): the sessions of `alias_id` belong to `entity_id`, the end of its
-- active merges. The view is derived from these, so it changes in the transaction in which a merge is
-- executed or undone.

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

-- First names also have keys for the names that they are nicknames of: all keys are rebuilt.

DELETE FROM name_keys;
