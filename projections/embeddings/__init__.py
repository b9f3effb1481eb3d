"""embeddings.db: canonical vectors, the search index derived from them, and token vectors."""

from projections.embeddings.embeddings_file import EmbeddingsModel

__all__ = ["EmbeddingsModel"]
