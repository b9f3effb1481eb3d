"""Listing and changing memories: facts, entities, merges, mental models."""
