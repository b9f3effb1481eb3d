"""Typed relationships between the entities of a fact, by declared rules. Pure functions."""
