"""A home: its directory, configuration, ledger, open zones, locks, and access tokens."""
