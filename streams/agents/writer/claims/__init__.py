"""Claims: the periods in which they hold, and what ends them, in whatever order they arrive."""
