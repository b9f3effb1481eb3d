"""Long-running processes: workers and replicas."""
