"""The file embeddings.db."""

from __future__ import annotations

from pathlib import Path

import apsw
import sqlite_vec

from recollect.projections.embeddings import legacy_vectors
from recollect.projections.migrations import Migrations
from recollect.projections.readmodel import ReadModel
from recollect.projections.sqlite import scalar

# Vectors per chunk of vec0, which allocates a whole chunk for the first vector: the default of
# 1,024 would take 1.6 MB in every small zone. A scan is no slower with smaller chunks.
_CHUNK_SIZE = 256

_INDEX = Path(__file__).parent / "search_index.sql"

#: The condition on rows in the search index. Turns and facts are excluded: they are by far the most
#: rows, and recall has its own index of them. So are texts: their vectors are only looked up by
#: text.
IS_SEARCHED = "target_type NOT IN ('event', 'fact', 'text')"

_DROP_INDEX = """
DROP TRIGGER IF EXISTS vec_embeddings_insert;
DROP TRIGGER IF EXISTS vec_embeddings_delete;
DROP TRIGGER IF EXISTS vec_embeddings_update;
DROP TABLE IF EXISTS vec_embeddings;
"""


class EmbeddingsModel(ReadModel):
    """Vectors per (target, model).

    The vectors of the home's model are indexed for search, except those of turns and facts.
    """

    name = "embeddings"
    migrations = Migrations(Path(__file__).parent / "migrations")
    # A page holds seven rows of 384 dimensions; one of 2 KB would hold three and waste a fifth.
    page = 4_096

    def __init__(
        self, directory: Path, model: str | None, dimension: int, *, readonly: bool = False
    ) -> None:
        self.model = model
        self.dimension = dimension
        super().__init__(directory, readonly=readonly)

    def connect(self, *, readonly: bool) -> apsw.Connection:
        connection = super().connect(readonly=readonly)
        _load_vec0(connection)
        legacy_vectors.add_functions(connection)
        return connection

    def after_migration(self, connection: apsw.Connection) -> None:
        self._index(connection)

    def tables(self) -> frozenset[str]:
        index = () if self.model is None else ("vec_embeddings",)
        return super().tables().union(index)

    def index_schema(self) -> str:
        """Return the SQL that creates the empty search index; an empty text without a model."""
        if self.model is None:
            return ""
        return _INDEX.read_text("utf-8").format(
            dimension=self.dimension,
            chunk=_CHUNK_SIZE,
            model=apsw.format_sql_value(self.model),
            searched=IS_SEARCHED,
        )

    def reindex(self) -> None:
        """Rebuild the search index from the canonical vectors, in the caller's transaction."""
        self._index(self.connection)

    def _index(self, connection: apsw.Connection) -> None:
        if self.model is None:
            return
        connection.execute(_DROP_INDEX)
        connection.execute(self.index_schema())
        connection.execute(
            "INSERT INTO vec_embeddings (rowid, target_type, embedding, target_id) "
            # NOT INDEXED gives rowid order without a sort, which would lose the int8 subtype.
            "SELECT seq, target_type, vec_int8(embedding), target_id FROM embeddings NOT INDEXED "
            f"WHERE model = ? AND {IS_SEARCHED} ORDER BY seq",
            (self.model,),
        )


def vec0_version() -> str:
    """Return the version of sqlite-vec, the SQLite extension for vector search.

    Raises:
        apsw.Error: it cannot be loaded.
    """
    connection = apsw.Connection(":memory:")
    _load_vec0(connection)
    return str(scalar(connection, "SELECT vec_version()"))


def _load_vec0(connection: apsw.Connection) -> None:
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
