-- Switches of the active chain of change records; the zone's content does not depend on them.

CREATE TABLE switches (
    number INTEGER PRIMARY KEY,
    chain  TEXT    NOT NULL
);
