"""Whether a process keeps a home up to date: the lock that it holds, the file that it touches."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from recollect.home.home_directory import Home
from recollect.streams.system.locks import exclusive, is_locked


def followed(home: Home) -> bool:
    """Return whether a worker or a replica keeps this home up to date with a ledger on Kafka."""
    return is_locked(_lock(home))


def following(home: Home) -> AbstractContextManager[None]:
    """Hold the lock of that process; Busy if another process holds it."""
    return exclusive(_lock(home), wait=False)


def heartbeat(home: Home) -> Path:
    """Return the file that this process touches every second while it goes on."""
    return home.directory / "heartbeat"


def _lock(home: Home) -> Path:
    return home.directory / "follower.lock"
