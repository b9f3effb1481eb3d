-- The decisions of one record: a merge is matched with the proposal that it results from.

CREATE INDEX idx_merge_decisions_decided ON merge_decisions(decided_at);
