-- The entities merged into an entity.

CREATE INDEX idx_merges_winner ON merges(winner_id);
