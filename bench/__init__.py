"""Benchmarks: every number that the documents give comes from a command here."""

# As in the product, numpy takes one thread; that must be said before it is imported.
import recollect  # noqa: F401
