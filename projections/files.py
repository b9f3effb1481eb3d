"""The files of one zone in one generation, opened together and locked in one order."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from recollect.projections.embeddings import EmbeddingsModel
from recollect.projections.events import EventsModel
from recollect.projections.file_permissions import make_directory, read_only
from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.projections.readmodel import ReadModel, Watermark
from recollect.projections.sqlite import rows
from recollect.schemas.changes import READ_MODEL_ROWS
from recollect.schemas.errors import CorruptFile, IntegrityError

#: The files of a zone, by name.
FILE_NAMES = tuple(f"{name}.db" for name in ("events", *READ_MODEL_ROWS))


class ZoneFiles:
    """events.db, and the three files that are projected from change records.

    `model`, `dimension`: the encoder whose vectors are indexed. Without a model there is no vector
    index.
    """

    def __init__(
        self,
        directory: Path,
        model: str | None,
        dimension: int,
        *,
        readonly: bool = False,
        complete: bool = False,
    ) -> None:
        """Open the files. `complete`: fail if one is missing, instead of creating it."""
        self.directory = directory
        self._frozen = readonly and read_only(directory)
        if not readonly:
            make_directory(directory)
        if complete or readonly:
            _require(directory)
        with ExitStack() as opened:
            self.events = EventsModel(directory, readonly=readonly)
            opened.callback(self.events.close)
            self.memory = MemoryModel(directory, readonly=readonly)
            opened.callback(self.memory.close)
            self.identity = IdentityModel(directory, readonly=readonly)
            opened.callback(self.identity.close)
            self.embeddings = EmbeddingsModel(directory, model, dimension, readonly=readonly)
            opened.callback(self.embeddings.close)
            self._opened = opened.pop_all()
        #: The files projected from change records, in the order in which their locks are taken.
        self.decided: tuple[ReadModel, ...] = (self.memory, self.identity, self.embeddings)
        self.all: tuple[ReadModel, ...] = (self.events, *self.decided)
        if complete:
            try:
                self.check()
            except BaseException:
                self.close()
                raise

    @property
    def outdated(self) -> bool:
        """Whether the files were opened on a read-only directory that is writable now.

        They do not see later writes, and must be opened again.
        """
        return self._frozen and not read_only(self.directory)

    def check(self) -> None:
        """Check that no table is missing.

        Raises:
            CorruptFile: a file lacks a table.
        """
        for model in self.all:
            if lacking := model.tables() - _names(model):
                raise _damaged(model.path, f"lacks the table {min(lacking)}")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the write locks of the decided files; on exit, roll back what was not committed."""
        started: list[ReadModel] = []
        try:
            for model in self.decided:
                model.connection.execute("BEGIN IMMEDIATE")
                started.append(model)
            yield
        finally:
            for model in started:
                if model.connection.in_transaction:
                    model.connection.execute("ROLLBACK")

    @contextmanager
    def read_transaction(self) -> Iterator[None]:
        """Hold a read transaction on every file, each with its own consistent snapshot."""
        started: list[ReadModel] = []
        try:
            for model in self.all:
                model.connection.execute("BEGIN")
                started.append(model)
            yield
        finally:
            for model in started:
                model.connection.execute("COMMIT")

    def watermark(self) -> Watermark:
        """Return the watermark that all decided files share.

        Raises:
            IntegrityError: they differ; project them from `changes` first.
        """
        marks = {model.watermark() for model in self.decided}
        if len(marks) > 1:
            raise IntegrityError(
                f"{self.directory}: the database files are at different positions in the ledger; "
                "run recollect rebuild"
            )
        return marks.pop()

    def is_purge_pending(self) -> bool:
        """Return whether erased rows may still leave traces in a file or another generation.

        An erasure that only events.db has applied does not count: the driver decides it first.
        """
        return any(model.is_purge_pending() for model in self.decided)

    def clear_purge_pending(self) -> None:
        """Clear the purge flag of every file, events.db first."""
        for model in self.all:
            if model.is_purge_pending():
                model.clear_purge_pending()

    def close(self) -> None:
        """Close every file."""
        self._opened.close()

    def __enter__(self) -> ZoneFiles:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _require(directory: Path) -> None:
    for name in FILE_NAMES:
        path = directory / name
        if not path.is_file() or not path.stat().st_size:
            raise _damaged(path, "is empty" if path.is_file() else "is missing")


def _damaged(path: Path, what: str) -> CorruptFile:
    zone = path.parent.parent.name
    return CorruptFile(f"{path} {what}; run recollect --zone {zone} rebuild")


def _names(model: ReadModel) -> frozenset[str]:
    found = rows(model.connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    return frozenset(name for (name,) in found)


class FilesPool:
    """A pool of open files that are idle; above `max_idle`, the oldest are closed."""

    def __init__(self, max_idle: int) -> None:
        self._max_idle = max_idle
        self._idle: list[tuple[int, ZoneFiles]] = []
        self._lock = threading.Lock()

    @contextmanager
    def open(
        self,
        directory: Path,
        model: str | None,
        dimension: int,
        *,
        complete: bool,
        readonly: bool = False,
    ) -> Iterator[ZoneFiles]:
        """Borrow the files of a directory; they are closed if the block raises."""
        files = self._pop(directory, model) or ZoneFiles(
            directory, model, dimension, complete=complete, readonly=readonly
        )
        try:
            yield files
        except BaseException:
            files.close()
            raise
        inode = _events_inode(directory)
        if not inode or any(opened.connection.in_transaction for opened in files.all):
            files.close()
            return
        with self._lock:
            self._idle.append((inode, files))
            old = self._idle.pop(0)[1] if len(self._idle) > self._max_idle else None
        if old is not None:
            old.close()

    def close_removed(self) -> None:
        """Close idle files of removed directories; until then, they take disk space."""
        with self._lock:
            removed = [item for item in self._idle if item[0] != _events_inode(item[1].directory)]
            self._idle = [item for item in self._idle if item not in removed]
        for _, files in removed:
            files.close()

    def close(self) -> None:
        """Close all idle files."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, files in idle:
            files.close()

    def _pop(self, directory: Path, model: str | None) -> ZoneFiles | None:
        # Strings compare faster than paths.
        path = str(directory)
        with self._lock:
            for index in range(len(self._idle) - 1, -1, -1):
                inode, files = self._idle[index]
                if str(files.directory) == path and files.embeddings.model == model:
                    del self._idle[index]
                    break
            else:
                return None
        if inode == _events_inode(directory) and not files.outdated:
            return files
        # The directory was replaced by another, or has become writable.
        files.close()
        return None


def _events_inode(directory: Path) -> int:
    """Return the inode of a directory's events.db; 0 if there is none."""
    try:
        return os.stat(f"{directory}/events.db").st_ino
    except FileNotFoundError:
        return 0
