"""Configuration of all tests: a Hypothesis profile, directories, new files, the marker `kafka`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from recollect.streams.language.statements import clause_salience, word_salience
from recollect.text.tokenizer import Tokens
from tests.new_files import copied_new_files

pytest_plugins = ["tests.broker.fixture"]

settings.register_profile("recollect", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recollect")

# On a disk, the tests would spend most of their time on flushes.
MEMORY = Path("/dev/shm")
MIN_FREE_BYTES = 4 << 30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MIN_FREE_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.fixture(autouse=True, scope="session")
def copied_files() -> Iterator[None]:
    """Copy new files from an empty one; their migrations take most of the time of small tests.

    The tests of migrations, and processes that tests start, apply the migrations.
    """
    with copied_new_files():
        yield


def _salience(_: Tokens, left: int, right: int) -> int:
    return 100 if right - left >= 3 else 0


@pytest.fixture(autouse=True, scope="session")
def salient_clauses() -> Iterator[None]:
    """Make clauses of three words or more salient in homes without a reader.

    What is salient is learnt: only tests of the reader and of salience by words judge it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clause_salience, "salience_of", _salience)
        yield


@pytest.fixture(scope="module")
def learnt_salience() -> Iterator[None]:
    """Restore salience as it ships, for tests that compare this process with others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clause_salience, "salience_of", word_salience.salience_of)
        yield


@pytest.fixture
def salient_only() -> Iterator[Callable[[str], None]]:
    """Return a function that makes only clauses with a word salient, in homes without a reader."""
    with pytest.MonkeyPatch.context() as patch:

        def make_salient(word: str) -> None:
            def salience(tokens: Tokens, left: int, right: int) -> int:
                return 100 if word in tokens.lowers[left:right] else 0

            patch.setattr(clause_salience, "salience_of", salience)

        yield make_salient


@pytest.fixture
def nothing_salient(salient_only: Callable[[str], None]) -> None:
    """Make no clause salient in homes without a reader, so that rules keep only claims."""
    salient_only("")


BROKER_FIXTURES = {"broker", "own_broker"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use a broker as `kafka`."""
    for item in items:
        if BROKER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.kafka)
