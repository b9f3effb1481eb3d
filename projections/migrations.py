"""Migrations: numbered SQL files, which alone define the tables of a file.

`0001_words.sql`, `0002_words.sql` and so on stand in one folder. A file's `user_version` is the
number of the last one that was applied: a new file gets all of them, an older file the missing
ones. A released migration is never edited, since files have it already; a later one changes its
result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

import apsw

from recollect.projections.sqlite import atomic, scalar
from recollect.schemas.errors import NewerFormat

_MADE = re.compile(
    r"^CREATE(?: VIRTUAL)? TABLE(?: IF NOT EXISTS)? (?P<made>\w+)"
    r"|^DROP TABLE(?: IF EXISTS)? (?P<dropped>\w+)",
    re.MULTILINE,
)


class Migrations:
    """The migrations of one kind of file. Safe under threads: nothing changes once read."""

    def __init__(
        self, folder: Path, unnumbered: Callable[[apsw.Connection], int] = lambda connection: 0
    ) -> None:
        """`unnumbered` returns the version of a file that states none."""
        self._folder = folder
        self._unnumbered = unnumbered

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
        """The tables of a new file, without shadow tables of virtual ones."""
        made: set[str] = set()
        for text in self._texts(0):
            for match in _MADE.finditer(text):
                if match["made"]:
                    made.add(match["made"])
                else:
                    made.discard(match["dropped"])
        return frozenset(made)

    def version(self, connection: apsw.Connection, path: Path) -> int:
        """Return the version of a file; 0 or less if it is new, or of a build that wrote none.

        Raises:
            NewerFormat: a newer program made it, or changed it.
        """
        version = int(scalar(connection, "PRAGMA user_version"))
        if version > self.newest:
            raise NewerFormat(
                f"{path} was made by a newer recollect (version {version}; this one knows up to "
                f"{self.newest}); upgrade recollect to use it"
            )
        return version or self._unnumbered(connection)

    def migrate(
        self,
        connection: apsw.Connection,
        path: Path,
        on_migrated: Callable[[], object] = lambda: None,
    ) -> None:
        """Apply the missing migrations and call `on_migrated`, in one transaction.

        Raises:
            NewerFormat: a newer program made it, or changed it.
        """
        if self.version(connection, path) == self.newest:
            return
        with atomic(connection):
            # Another process may have done so before the lock was taken.
            if (found := self.version(connection, path)) < self.newest:
                for text in self._texts(found):
                    connection.execute(text).fetchall()
                on_migrated()
                connection.execute(f"PRAGMA user_version = {self.newest}")

    def _texts(self, since: int) -> list[str]:
        return [path.read_text("utf-8") for number, path in self._paths.items() if number > since]
