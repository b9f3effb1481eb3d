-- Merges that a command executed: what each of the two states stays apart in their slots (fault 48).

CREATE TABLE merges_by_command (
    merge_id TEXT PRIMARY KEY
) WITHOUT ROWID;
