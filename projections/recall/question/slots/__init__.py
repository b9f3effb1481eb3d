"""The slots that a question asks for or needs: attributes of entities, and their current values."""
