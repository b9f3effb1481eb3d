"""Listing and changing memories: facts, entities, merges, and a memory of any kind by its id."""
