"""Work behind the routes: thread pools, deciding, long-running operations, recall workers."""
