"""Results other than turns, scored as documents: observations, mental models and entities."""
