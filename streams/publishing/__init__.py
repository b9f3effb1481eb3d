"""Publish to the ledger: records of the inbox, and recollect's own commands."""
