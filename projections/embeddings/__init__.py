"""embeddings.db: canonical vectors, the search index made from them, and token vectors."""

from recollect.projections.embeddings.embeddings_file import EmbeddingsModel

__all__ = ["EmbeddingsModel"]
