"""The file identity.db."""

from collections.abc import Iterable
from pathlib import Path

import apsw

from recollect.projections.migrations import Migrations
from recollect.projections.readmodel import ReadModel
from recollect.projections.sqlite import rows
from recollect.schemas.changes import Entity, Section
from recollect.text.name_forms import name_keys


class IdentityModel(ReadModel):
    """Entities, handles, mentions and merges."""

    name = "identity"
    migrations = Migrations(Path(__file__).parent / "migrations")

    def after_migration(self, connection: apsw.Connection) -> None:
        _write_name_keys(connection)

    def reindex(self) -> None:
        self.connection.execute("DELETE FROM name_keys")
        _write_name_keys(self.connection)

    def project(self, sections: Iterable[Section]) -> None:
        sections = list(sections)
        super().project(sections)
        for section in sections:
            gone = [delete.key for delete in section.deletes if delete.table == Entity.TABLE]
            named = [row for row in section.puts if isinstance(row, Entity)]
            if gone:
                self.connection.executemany("DELETE FROM name_keys WHERE entity_id = ?", gone)
            if named:
                _write_keys(self.connection, ((row.id, row.type, row.normalized) for row in named))


def _write_name_keys(connection: apsw.Connection) -> None:
    """Write the name keys of all entities, in the caller's transaction."""
    found = rows(connection, "SELECT id, type, normalized FROM entities")
    _write_keys(connection, ((str(entity), str(kind), str(name)) for entity, kind, name in found))


def _write_keys(connection: apsw.Connection, entities: Iterable[tuple[str, str, str]]) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO name_keys VALUES (?, ?)",
        [(key, entity) for entity, kind, name in entities for key in name_keys(name, kind)],
    )
