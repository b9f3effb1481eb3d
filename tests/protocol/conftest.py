"""Homes for the protocol's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from recollect.streams.agents import AGENTS, Agent
from recollect.streams.deciding import redeciding
from recollect.streams.system import failpoints
from tests.protocol.kit import Home, in_memory


@pytest.fixture
def room() -> Iterator[Path]:
    """A directory in memory, without disk flushes: tests kill processes, not the machine."""
    with in_memory() as path:
        yield path


@pytest.fixture
def make_home(room: Path) -> Iterator[Callable[..., Home]]:
    """Return a function that opens a home by name, closed at the end."""
    homes: list[Home] = []

    def make(
        name: str = "home", agents: Sequence[Agent] = AGENTS, ledger: Path | None = None
    ) -> Home:
        homes.append(Home(room / name, agents, ledger))
        return homes[-1]

    yield make
    for home in homes:
        home.close()


@pytest.fixture
def home(make_home: Callable[..., Home]) -> Home:
    return make_home()


@pytest.fixture
def decided(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of decisions that erasures made again."""
    numbers: list[int] = []
    decide = redeciding.Redecision._decide

    def noted(self: redeciding.Redecision, number: int) -> object:
        numbers.append(number)
        return decide(self, number)

    monkeypatch.setattr(redeciding.Redecision, "_decide", noted)
    return numbers


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    """Clear failpoints after each test."""
    yield
    failpoints.disarm()
