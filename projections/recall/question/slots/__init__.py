"""The slots that a question asks for: attributes of entities, and their current values."""
