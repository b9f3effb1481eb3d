"""Training of the weights and tables that recollect ships, with its corpora; see README.md here."""

# As in the product, numpy uses one thread; this must be set before numpy is imported.
import recollect  # noqa: F401
