"""Homes whose writer is a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.writing.model_server import ModelServer, Script, model_server

OpenWriting = Callable[..., "tuple[Memory, ModelServer]"]


@contextmanager
def writing_home(
    place: Path, script: Script, **settings: object
) -> Iterator[tuple[Memory, ModelServer]]:
    """Open a home without an encoder, with a scripted model."""
    with model_server(script) as server:
        given = {"seconds": 60.0, "attempts": 2} | settings
        lines = [f'accounts = ["{server.url} scripted"]']
        lines += [f"{name} = {value}" for name, value in given.items()]
        place.mkdir(parents=True, exist_ok=True)
        if not Home.exists_at(place):
            Home.create_or_open(place, without_encoder=True, writer="model")
        (place / "recollect.toml").write_text("[model]\n" + "\n".join(lines) + "\n")
        with Memory(place) as memory:
            yield memory, server


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenWriting]:
    """Return a function (script, settings) -> zone and server, closed after the test."""
    with ExitStack() as stack:
        count = iter(range(100))

        def open_(script: Script, **settings: object) -> tuple[Memory, ModelServer]:
            place = tmp_path / f"home-{next(count)}"
            return stack.enter_context(writing_home(place, script, **settings))

        yield open_
