"""Homes whose ledger is on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.broker.fixture import SCHEME
from tests.broker.kafka import Broker
from tests.kafka.kit import Recollect
from tests.protocol.kit import in_memory


class Make(Protocol):
    """Makes a home by name; `url` is its ledger, by default that of the test."""

    def __call__(
        self, name: str, url: str = "", encoder: str = "none", **settings: str
    ) -> Recollect: ...


@pytest.fixture(autouse=True, scope="module")
def salience_of_workers(learnt_salience: None) -> None:
    """Decide as workers do: they are other processes."""


@pytest.fixture
def room() -> Iterator[Path]:
    """A directory in memory, without disk flushes."""
    with in_memory() as path:
        yield path


def _make(room: Path, ledger: str) -> Iterator[Make]:
    made: list[Recollect] = []

    def make(name: str, url: str = "", encoder: str = "none", **settings: str) -> Recollect:
        recollect = Recollect(room / name, url or ledger, **settings)
        recollect.ask("init", "--encoder", encoder)
        made.append(recollect)
        return recollect

    yield make
    for recollect in made:
        recollect.end()


@pytest.fixture
def make(kafka_url: str, room: Path) -> Iterator[Make]:
    """Homes on topics of this test alone; their processes end with it."""
    yield from _make(room, kafka_url)


@pytest.fixture
def own_url(own_broker: Broker) -> str:
    """A ledger on a broker of this test alone; its topics have no prefix."""
    return f"{SCHEME}{own_broker.address}"


@pytest.fixture
def make_own(own_url: str, room: Path) -> Iterator[Make]:
    """Homes on the broker of this test alone."""
    yield from _make(room, own_url)
