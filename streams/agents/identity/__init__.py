"""The identity of a zone: entities, mentions, participants and merges."""
