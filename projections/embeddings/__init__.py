"""embeddings.db: canonical vectors, and the search index derived from them."""

from projections.embeddings.model import EmbeddingsModel

__all__ = ["EmbeddingsModel"]
