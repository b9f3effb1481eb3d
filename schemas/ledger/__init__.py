"""The records of the ledger: how they are encoded, sealed, chained, split and upcast."""
