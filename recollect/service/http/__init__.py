"""The HTTP layer of every request: paths, bodies, problems, limits, log and metrics."""
