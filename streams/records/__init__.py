"""A zone's records in the ledger: accepted events and changes, lookups, times, and heads."""
