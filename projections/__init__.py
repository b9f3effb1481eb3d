"""What is known: SQLite read models folded from the ledger, and the queries over them."""
