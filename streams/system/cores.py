"""How much of the machine is ours."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return how many cores this process may use: in a container, fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
