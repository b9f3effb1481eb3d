"""Benchmarks of the ledger: ingestion, projection, disk space, erasure, and faults."""
