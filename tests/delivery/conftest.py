"""A place with two topics of the test's own, on the broker of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.fixture import SCHEME
from tests.delivery.kit import Place


@pytest.fixture
def place(kafka_url: str, tmp_path: Path) -> Iterator[Place]:
    server, _, prefix = kafka_url.removeprefix(SCHEME).partition("/")
    place = Place(server, prefix, tmp_path)
    yield place
    for worker in place.workers:
        worker.process.kill()
        worker.process.wait()
