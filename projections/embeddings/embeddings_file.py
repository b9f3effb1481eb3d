"""The file embeddings.db."""

from __future__ import annotations

from pathlib import Path

import apsw
import sqlite_vec

from recollect.projections.embeddings import legacy_vectors
from recollect.projections.migrations import Migrations
from recollect.projections.readmodel import ReadModel
from recollect.projections.sqlite import scalar

# vec0 writes vectors in chunks of this many and reserves a whole chunk for the first. So small
# zones stay small (the default of 1,024 takes 1.6 MB), and a scan is no slower.
_CHUNK = 256

_INDEX = Path(__file__).parent / "search_index.sql"

#: Which rows the search index contains. Turns and facts are by far the most, and recall has an
#: index of its own for them; vectors of texts without a fact are only looked up by the text.
SEARCHED = "target_type NOT IN ('event', 'fact', 'text')"

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
    # Seven vectors of 384 dimensions fill it; three would leave a fifth of a smaller one empty.
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

    def migrated(self, connection: apsw.Connection) -> None:
        self._index(connection)

    def tables(self) -> frozenset[str]:
        index = () if self.model is None else ("vec_embeddings",)
        return super().tables().union(index)

    def index_schema(self) -> str:
        """Return the statements that make the search index, empty; none without a model."""
        if self.model is None:
            return ""
        return _INDEX.read_text("utf-8").format(
            dimension=self.dimension,
            chunk=_CHUNK,
            model=apsw.format_sql_value(self.model),
            searched=SEARCHED,
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
            # In the order of rowid: after a sort SQLite no longer knows that the value is an int8
            # vector.
            "SELECT seq, target_type, vec_int8(embedding), target_id FROM embeddings NOT INDEXED "
            f"WHERE model = ? AND {SEARCHED} ORDER BY seq",
            (self.model,),
        )


def vec0_version() -> str:
    """Return the version of the loaded extension that searches vectors in SQLite.

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
