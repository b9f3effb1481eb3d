-- Erasures, after which facts that were merged may stand apart again. A file of an earlier build has
-- none from before this migration.

CREATE TABLE erasures (
    number INTEGER PRIMARY KEY      -- running number in the zone
);
