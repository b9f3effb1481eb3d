-- Which chain of change records counts from an event on; the zone's state does not depend on it.

CREATE TABLE switches (
    number INTEGER PRIMARY KEY,
    chain  TEXT    NOT NULL
);
