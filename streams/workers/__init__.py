"""Workers on a shared ledger, each of which handles the zones of its assigned partitions."""
