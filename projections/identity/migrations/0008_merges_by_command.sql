-- Merges that a command executed. The slot values of the two entities are kept apart, so that undoing
-- the merge restores both (fault 48).

CREATE TABLE merges_by_command (
    merge_id TEXT PRIMARY KEY
) WITHOUT ROWID;
