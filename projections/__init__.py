"""Read models: SQLite files projected from the ledger, and the queries over them."""
