-- The newest memories of each circle of readers, which decide what is archived for its age (C10).

DROP INDEX idx_memories_readers;
CREATE INDEX idx_memories_readers ON memories(reader_user, reader_agent, created_at, number);
