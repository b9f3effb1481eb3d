"""A service for the tests of a module, and a browser for those that look at its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.page import kit
from tests.service.kit import Served, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over a new home."""
    with served(tmp_path_factory.mktemp("service") / "home") as found:
        yield found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service without sign-in over a home with memories."""
    with kit.filled_service(tmp_path_factory.mktemp("filled") / "home", no_auth=True) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium."""
    with kit.chromium() as found:
        yield found


@pytest.fixture
def page(browser: Any, filled: Served) -> Iterator[kit.Page]:
    """A tab on the page of `filled`."""
    with kit.shown(browser, filled) as found:
        yield found
