"""Dates expressed in text, resolved to calendar days."""
