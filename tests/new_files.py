"""New files of a zone as copies of empty ones, which is ten times as fast as the migrations."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import wraps
from pathlib import Path

import apsw
import pytest

from recollect.projections.events import EventsModel
from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.projections.readmodel import ReadModel

_connect = ReadModel.connect


@contextmanager
def copied_new_files() -> Iterator[None]:
    """Create files as copies of empty files, which are migrated once.

    Except embeddings.db, whose search index depends on the encoder.
    """
    empty = {}
    for kind in (EventsModel, MemoryModel, IdentityModel):
        with closing(kind(None)) as model:
            empty[kind.name] = model.connection.serialize("main")

    @wraps(_connect)
    def connect(self: ReadModel, *, readonly: bool) -> apsw.Connection:
        if self.name in empty and not readonly:
            if str(self.path) == ":memory:":
                connection = _connect(self, readonly=False)
                connection.deserialize("main", empty[self.name])
                return connection
            if self.path.parent.is_dir() and not self.path.exists():
                # If it cannot be written, the error is that of the product's own attempt.
                with suppress(OSError):
                    _create(self.path, empty[self.name])
        return _connect(self, readonly=readonly)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReadModel, "connect", connect)
        yield


@contextmanager
def migrated_new_files() -> Iterator[None]:
    """Create files by their migrations, as the product does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ReadModel, "connect", _connect)
        yield


def _create(path: Path, content: bytes) -> None:
    """Create a private file with a content at once, unless another process has created it."""
    file, name = tempfile.mkstemp(dir=path.parent)
    try:
        with open(file, "wb") as stream:
            stream.write(content)
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        os.unlink(name)
