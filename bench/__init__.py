"""Benchmarks: every number that the documents give comes from a command here."""
