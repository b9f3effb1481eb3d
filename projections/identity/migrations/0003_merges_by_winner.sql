-- Whom an entity took in.

CREATE INDEX idx_merges_winner ON merges(winner_id);
