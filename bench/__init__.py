"""Benchmarks: every figure in the documentation comes from a command here."""

# As in the product, numpy uses one thread; this must be set before numpy is imported.
import recollect  # noqa: F401
