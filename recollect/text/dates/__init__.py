"""Dates that a text says, resolved to days."""
