"""What is due in a home without a worker, appended to its ledger as ticks."""
