"""Named-entity recognition, and comparison of names."""
