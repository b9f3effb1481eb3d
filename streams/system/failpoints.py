"""Failpoints: named places where a test can stop the process, as a power cut would.

`RECOLLECT_FAILPOINT=name` or `name:3` kills the process with SIGKILL when the failpoint is reached
for the first or third time; `name:3:raise` raises InjectedFailure instead. Commas separate several
failpoints. If the variable is not set, a failpoint costs two comparisons.
"""

from __future__ import annotations

import os
import signal
import threading

from recollect.schemas.errors import InjectedFailure

#: Every failpoint, in the order in which an event reaches them.
FAILPOINTS = (
    "ledger.begun",
    "ledger.made",
    "append.keys",
    "append.committed",
    "commit.read",
    "commit.extracted",
    "commit.locked",
    "commit.projected",
    "commit.produced",
    "commit.accepted",
    "commit.keys_destroyed",
    "commit.memory",
    "commit.identity",
    "commit.embeddings",
    "commit.purged",
    "purge.done",
    "outbox.appended",
    "rebuild.written",
    "rebuild.announced",
    "rebuild.switched",
    "backup.copied",
    "restore.staged",
    "restore.erased",
    "restore.committed",
    "restore.emptied",
    "restore.placed",
)

_kill_at: dict[str, int] = {}
_raise_at: dict[str, int] = {}
for _spec in filter(None, os.environ.get("RECOLLECT_FAILPOINT", "").split(",")):
    _name, _count, _how = (*_spec.split(":", 2), "", "")[:3]
    (_raise_at if _how == "raise" else _kill_at)[_name] = int(_count or 1)
_lock = threading.Lock()


def failpoint(name: str) -> None:
    """Stop here if a test has armed this failpoint."""
    if _kill_at and _due(_kill_at, name):
        os.kill(os.getpid(), signal.SIGKILL)
    if _raise_at and _due(_raise_at, name):
        raise InjectedFailure(f"stopped at failpoint {name}")


def _due(armed: dict[str, int], name: str) -> bool:
    """Count one arrival at a failpoint, by any thread; return whether to stop there."""
    with _lock:
        if name not in armed:
            return False
        armed[name] -= 1
        if armed[name] == 0:
            del armed[name]
            return True
        return False


def arm(name: str, count: int = 1) -> None:
    """Make `failpoint(name)` raise InjectedFailure when it is reached for the `count`-th time.

    For tests inside one process; call `disarm` afterwards.
    """
    if name not in FAILPOINTS:
        raise ValueError(f"there is no failpoint {name!r}")
    _raise_at[name] = count


def disarm() -> None:
    """Undo every `arm`."""
    _raise_at.clear()
