"""The ways in: drafts and commands are published here, and their receipts waited for."""
