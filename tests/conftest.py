"""Configuration of all tests: a Hypothesis profile, the temporary root, the marker `kafka`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.broker.fixture"]

settings.register_profile("recollect", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recollect")

# On a disk, the tests would spend most of their time on flushes.
MEMORY = Path("/dev/shm")
MIN_FREE_BYTES = 4 << 30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MIN_FREE_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

BROKER_FIXTURES = {"broker", "own_broker"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use a broker as `kafka`."""
    for item in items:
        if BROKER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.kafka)
