"""Types that are stored or exchanged: events, change rows, ledger records, and interface types."""
