"""Publishing into the ledger: drafts from the inbox, and recollect's own commands."""
