"""Putting events, files and texts into the ledger."""
