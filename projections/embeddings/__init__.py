"""embeddings.db: canonical vectors, their search index, and token vectors."""

from recollect.projections.embeddings.embeddings_file import EmbeddingsModel

__all__ = ["EmbeddingsModel"]
