"""Deciding what an event changes, tracking dependencies, and deciding again after an erasure."""
