"""Memories for the tests of recall."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.kit import EncodedHome

Open = Callable[..., Memory]


@pytest.fixture
def room() -> Iterator[Path]:
    with in_memory() as path:
        yield path


@pytest.fixture
def open_memory(room: Path) -> Iterator[Open]:
    """Return a function that opens a zone of a home, with the tiny encoder or without one."""
    opened: list[Memory] = []

    def open_one(zone: str = "default", *, encoder: bool = True, **fields: object) -> Memory:
        directory = room / ("encoded" if encoder else "plain")
        Home.create_or_open(directory, without_encoder=True)
        home = (EncodedHome if encoder else Home)(directory)
        opened.append(Memory(home, zone, **fields))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    """A zone of a home with the tiny encoder."""
    return open_memory()


@pytest.fixture
def words_only(open_memory: Open) -> Memory:
    """A zone of a home without an encoder."""
    return open_memory(encoder=False)
