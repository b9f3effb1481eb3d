"""What is known: SQLite read models projected from the ledger, and the queries over them."""
