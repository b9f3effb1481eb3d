"""One service for the tests of a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from recollect.home import access_tokens
from recollect.home.open_zone import unix_ms
from tests.service.kit import Served, served


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service over a new home."""
    with served(tmp_path_factory.mktemp("service") / "home") as found:
        yield found


@pytest.fixture
def token_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], int]:
    """Stop the clock of access tokens; return a function that moves it by ms and tells the time."""
    now = unix_ms()

    def move(by: int) -> int:
        nonlocal now
        now += by
        return now

    monkeypatch.setattr(access_tokens, "unix_ms", lambda: now)
    return move
