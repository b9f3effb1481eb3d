"""The records of the ledger, and how they are encoded, sealed and chained."""
