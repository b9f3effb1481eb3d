"""The file embeddings.db."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import apsw
import sqlite_vec

from projections.lineage import lineage_schema
from projections.readmodel import SCHEMA_VERSION, ReadModel

# vec0 writes vectors in chunks of this many and reserves a whole one for the first: small
# zones stay small (1,024, its default, takes 1.6 MB), and a scan is no slower.
_CHUNK = 256

_TOKENS = resources.files(__package__).joinpath("tokens.sql").read_text()

_LINEAGE = lineage_schema(
    {
        "embeddings": ("embedding", "target_type", "target_id", "model"),
        "token_vectors": ("codes", "scales", "units", "target_type", "target_id", "model", "form"),
    }
)

# An id follows from the target and the model, so no two rows have the same.
_ONE_ID = "CREATE UNIQUE INDEX idx_embeddings_id ON embeddings(id);"

_INDEX = """
CREATE VIRTUAL TABLE vec_embeddings USING vec0(
    target_type TEXT partition key,
    embedding   float[{dimension}] distance_metric=cosine,
    +target_id  TEXT,
    chunk_size={chunk}
);
CREATE TRIGGER vec_embeddings_insert AFTER INSERT ON embeddings WHEN NEW.model = {model}
BEGIN
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, NEW.embedding, NEW.target_id);
END;
CREATE TRIGGER vec_embeddings_delete AFTER DELETE ON embeddings WHEN OLD.model = {model}
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
END;
CREATE TRIGGER vec_embeddings_update AFTER UPDATE ON embeddings WHEN NEW.model = {model}
BEGIN
    DELETE FROM vec_embeddings WHERE rowid = OLD.seq;
    INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id)
    VALUES (NEW.seq, NEW.target_type, NEW.embedding, NEW.target_id);
END;
"""

_DROP_INDEX = """
DROP TRIGGER IF EXISTS vec_embeddings_insert;
DROP TRIGGER IF EXISTS vec_embeddings_delete;
DROP TRIGGER IF EXISTS vec_embeddings_update;
DROP TABLE IF EXISTS vec_embeddings;
"""


class EmbeddingsModel(ReadModel):
    """Vectors per (target, model); one model, the home's, is indexed for search."""

    name = "embeddings"
    upgrades = (_TOKENS, _LINEAGE, _ONE_ID + SCHEMA_VERSION, _LINEAGE)

    def __init__(
        self, directory: Path, model: str | None, dimension: int, *, readonly: bool = False
    ) -> None:
        self.model = model
        self.dimension = dimension
        super().__init__(directory, readonly=readonly)

    def prepare(self) -> None:
        self.connection.enable_load_extension(True)
        self.connection.load_extension(sqlite_vec.loadable_path())
        self.connection.enable_load_extension(False)
        super().prepare()

    def schema(self) -> str:
        return super().schema() + _TOKENS + _LINEAGE + self.index_schema()

    def index_schema(self) -> str:
        """Return the statements that make the search index, empty; none without a model."""
        if self.model is None:
            return ""
        return _INDEX.format(
            dimension=self.dimension, chunk=_CHUNK, model=apsw.format_sql_value(self.model)
        )

    def reindex(self) -> None:
        """Make the search index again from the canonical vectors, in the caller's transaction."""
        if self.model is None:
            return
        self.connection.execute(_DROP_INDEX)
        self.connection.execute(self.index_schema())
        self.connection.execute(
            "INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id) "
            "SELECT seq, target_type, embedding, target_id FROM embeddings WHERE model = ? "
            "ORDER BY seq",
            (self.model,),
        )
