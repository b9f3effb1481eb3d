"""Whether a home is kept up by a process of its own: the lock it holds, the file it touches."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from recollect.home import Home
from streams.system.locks import exclusive, is_locked


def followed(home: Home) -> bool:
    """Return whether a worker or a replica keeps this home up to a ledger on Kafka."""
    return is_locked(_lock(home))


def following(home: Home) -> AbstractContextManager[None]:
    """Be the process that does; Busy where another is."""
    return exclusive(_lock(home), wait=False)


def heartbeat(home: Home) -> Path:
    """Return the file that this process touches every second while it goes on."""
    return home.directory / "heartbeat"


def _lock(home: Home) -> Path:
    return home.directory / "follower.lock"
