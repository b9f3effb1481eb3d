"""Benchmarks of commands, of the service, and of concurrent queries."""
