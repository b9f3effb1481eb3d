-- The messages of a conversation in the order of their times, which is that of their ids.

CREATE INDEX idx_events_conversation_times ON events(conversation, id);
