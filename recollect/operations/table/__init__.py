"""The table: every operation on a zone, one module for each kind."""
