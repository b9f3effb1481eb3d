"""Failpoints: named places where a test may stop the process, as a power cut would.

`RECOLLECT_FAILPOINT=name` or `name:3` kills the process with SIGKILL when the place is passed
for the first or third time. Unset, a failpoint costs one comparison.
"""

from __future__ import annotations

import os
import signal

from schemas.errors import InjectedFailure

#: Every failpoint, in the order in which an event passes them.
FAILPOINTS = (
    "append.keys",
    "append.committed",
    "commit.read",
    "commit.extracted",
    "commit.locked",
    "commit.evolved",
    "commit.produced",
    "commit.accepted",
    "commit.keys_destroyed",
    "commit.memory",
    "commit.identity",
    "commit.embeddings",
    "commit.purged",
    "outbox.appended",
    "rebuild.written",
    "rebuild.switched",
)

_name, _, _count = os.environ.get("RECOLLECT_FAILPOINT", "").partition(":")
_countdown = {_name: int(_count or 1)} if _name else {}
_raising: dict[str, int] = {}


def failpoint(name: str) -> None:
    """Stop here if a test asked for it."""
    if _countdown and name in _countdown:
        _countdown[name] -= 1
        if _countdown[name] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    if _raising and name in _raising:
        _raising[name] -= 1
        if _raising[name] == 0:
            del _raising[name]
            raise InjectedFailure(f"stopped at failpoint {name}")


def arm(name: str, count: int = 1) -> None:
    """Make `failpoint(name)` raise InjectedFailure when it is passed for the `count`-th time.

    For tests inside one process; call `disarm` afterwards.
    """
    if name not in FAILPOINTS:
        raise ValueError(f"no failpoint is called {name}")
    _raising[name] = count


def disarm() -> None:
    """Take back every `arm`."""
    _raising.clear()
