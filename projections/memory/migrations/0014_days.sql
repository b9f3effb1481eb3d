-- The calendar days of dates (fault 49): resolved once, when the writer decides a message, and read by
-- everything that shows or compares them. Facts decided before have none until they are derived again.

CREATE TABLE fact_days (
    fact_id   TEXT PRIMARY KEY,
    first_day TEXT NOT NULL,            -- YYYY-MM-DD; both days are included
    last_day  TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE message_dates (
    event_id    TEXT    NOT NULL,
    char_start  INTEGER NOT NULL,       -- position of the date in the event's text
    char_end    INTEGER NOT NULL,
    first_day   TEXT    NOT NULL,
    last_day    TEXT    NOT NULL,
    is_relative INTEGER NOT NULL,       -- 1: the text does not state the year
    PRIMARY KEY (event_id, char_start)
) WITHOUT ROWID;
