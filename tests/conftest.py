"""What all tests share: Hypothesis judges behaviour, never the speed of a shared machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.broker.fixture"]

settings.register_profile("recollect", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("recollect")

# The tests wait for the disk longer than they compute, where `tmp_path` is on one.
MEMORY = Path("/dev/shm")
ENOUGH = 4 << 30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

BROKERS = {"broker", "own_broker"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for a broker."""
    for item in items:
        if BROKERS & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.kafka)
