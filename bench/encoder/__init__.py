"""Benchmarks of the encoder: speed, and the effect of precision."""
