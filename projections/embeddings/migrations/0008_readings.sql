-- The annotations that a reader recorded for an event's text, so that a replay runs no model.

CREATE TABLE readings (
    number  INTEGER PRIMARY KEY,            -- the event's running number
    reader  BLOB NOT NULL,                  -- four bytes of the hash of the reader's heads
    text    BLOB NOT NULL,                  -- four bytes of the hash of the text
    content BLOB NOT NULL                   -- packed: words, names and sentences
);
