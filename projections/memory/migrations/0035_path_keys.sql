-- The memories at a virtual path, by their name there (C20).
CREATE INDEX idx_memories_path_key ON memories(path_key) WHERE path_key IS NOT NULL;
