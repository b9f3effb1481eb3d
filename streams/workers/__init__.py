"""Workers on a shared ledger: they follow the partitions, and so the zones, assigned to them."""
