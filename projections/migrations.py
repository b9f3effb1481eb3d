"""Migrations: numbered SQL files, which alone define the tables of a file.

A directory holds `0001_words.sql`, `0002_words.sql` and so on. A file's `user_version` is the
number of the last migration applied: a new file gets all of them, an older file the missing ones. A
released migration is never edited, since it was already applied to existing files; a later
migration amends it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import apsw

from recollect.projections.sqlite import atomic, scalar
from recollect.schemas.errors import NewerFormat

_TABLE_STATEMENT = re.compile(
    r"^CREATE(?: VIRTUAL)? TABLE(?: IF NOT EXISTS)? (?P<created>\w+)"
    r"|^DROP TABLE(?: IF EXISTS)? (?P<dropped>\w+)",
    re.MULTILINE,
)


class Migrations:
    """The migrations of one kind of file; immutable, and so thread-safe."""

    def __init__(
        self, folder: Path, legacy_version: Callable[[apsw.Connection], int] = lambda connection: 0
    ) -> None:
        """`legacy_version`: returns the version of a file whose `user_version` is 0."""
        self._folder = folder
        self._legacy_version = legacy_version

    @cached_property
    def _paths(self) -> dict[int, Path]:
        found = {int(path.name[:4]): path for path in self._folder.glob("[0-9]*.sql")}
        return dict(sorted(found.items()))

    @cached_property
    def newest(self) -> int:
        """The version of a new file."""
        return max(self._paths)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The tables of a new file, without shadow tables of virtual tables."""
        created: set[str] = set()
        for text in self._texts(0):
            for match in _TABLE_STATEMENT.finditer(text):
                if match["created"]:
                    created.add(match["created"])
                else:
                    created.discard(match["dropped"])
        return frozenset(created)

    def version(self, connection: apsw.Connection, path: Path) -> int:
        """Return a file's version; 0 or less if it is new or was made by an early build.

        Raises:
            NewerFormat: a newer program made the file.
        """
        version = int(scalar(connection, "PRAGMA user_version"))
        if version > self.newest:
            raise NewerFormat(
                f"{path} was made by a newer recollect (version {version}; this one knows up to "
                f"{self.newest}); upgrade recollect to use it"
            )
        return version or self._legacy_version(connection)

    def migrate(
        self,
        connection: apsw.Connection,
        path: Path,
        on_migrated: Callable[[], object] = lambda: None,
    ) -> None:
        """Apply the missing migrations and call `on_migrated`, in one transaction.

        Raises:
            NewerFormat: a newer program made the file.
        """
        if self.version(connection, path) == self.newest:
            return
        with atomic(connection):
            # Another process may have migrated the file before the lock was taken.
            if (version := self.version(connection, path)) < self.newest:
                for text in self._texts(version):
                    connection.execute(text).fetchall()
                on_migrated()
                connection.execute(f"PRAGMA user_version = {self.newest}")

    def _texts(self, since: int) -> list[str]:
        return [path.read_text("utf-8") for number, path in self._paths.items() if number > since]
