"""Training: what makes the weights and tables that ship, with its corpora; see README.md here."""

# As in the product, numpy takes one thread; that must be said before it is imported.
import recollect  # noqa: F401
