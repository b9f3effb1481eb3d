"""Long-running work on a shared ledger: partitions come and go, and zones with them."""
