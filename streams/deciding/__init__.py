"""Deciding what an event changes, what that rested on, and deciding again after an erasure."""
