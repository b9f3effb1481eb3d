"""The work behind the routes: threads, deciding, long operations, recall workers."""
