"""Stored memories: storing, reading, paths, tiers and the hierarchy of consolidated ones."""
