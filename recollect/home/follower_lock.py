"""The lock and the heartbeat file of the process that keeps a home up to date with Kafka."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from recollect.home.home_directory import Home
from recollect.streams.system.locks import exclusive, is_locked


def has_follower(home: Home) -> bool:
    """Return whether a worker or a replica keeps this home up to date with a Kafka ledger."""
    return is_locked(_lock(home))


def hold_follower_lock(home: Home) -> AbstractContextManager[None]:
    """Return a context that holds the follower's lock; Busy if another process holds it."""
    return exclusive(_lock(home), wait=False)


def heartbeat_file(home: Home) -> Path:
    """Return the file that the follower touches every second."""
    return home.directory / "heartbeat"


def _lock(home: Home) -> Path:
    return home.directory / "follower.lock"
