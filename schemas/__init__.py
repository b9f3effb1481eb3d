"""The structs of events, rows and answers, their names and times, and the records of the ledger."""
