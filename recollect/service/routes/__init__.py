"""The routes: a handler for each operation of the table, and the other routes."""
