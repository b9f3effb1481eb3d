"""Who and what a zone knows: entities, mentions, participants and merges."""
