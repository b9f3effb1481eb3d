-- What a reader read in the text of an event: a replay repeats it, and asks no model.

CREATE TABLE readings (
    number  INTEGER PRIMARY KEY,            -- the event's running number
    reader  BLOB NOT NULL,                  -- four bytes of the hash of the reader's heads
    text    BLOB NOT NULL,                  -- four bytes of the hash of the text
    content BLOB NOT NULL                   -- packed: words, names and sentences
);
