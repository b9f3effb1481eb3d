"""Commands of processes that keep running: worker, replica, serve, mcp."""
