"""One service for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.kit import Served, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over a new home."""
    with served(tmp_path_factory.mktemp("service") / "home") as found:
        yield found
