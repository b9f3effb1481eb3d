"""Operations on facts, entities, merges and stored memories."""
