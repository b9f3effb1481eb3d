"""Homes for the protocol's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from streams import failpoints
from streams.agents import AGENTS, Agent
from tests.protocol.kit import Home


@pytest.fixture
def make_home(tmp_path: Path) -> Iterator[Callable[..., Home]]:
    """Return a function that opens a home by name, closed at the end."""
    homes: list[Home] = []

    def make(name: str = "home", agents: Sequence[Agent] = AGENTS) -> Home:
        homes.append(Home(tmp_path / name, agents))
        return homes[-1]

    yield make
    for home in homes:
        home.close()


@pytest.fixture
def home(make_home: Callable[..., Home]) -> Home:
    return make_home()


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """No failpoint outlives its test."""
    yield
    failpoints.disarm()
