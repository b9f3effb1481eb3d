"""Exports of a zone: its ledger as events, and its memory as pages to read."""
