"""Benchmarks of recall: quality and speed of answers, and the value of facts."""
