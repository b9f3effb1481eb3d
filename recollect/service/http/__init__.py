"""What every request passes: paths, bodies, problems, limits, log and metrics."""
