"""Listing and changing what is held: facts, entities, merges, mental models."""
