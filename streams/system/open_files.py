"""How many files this process may have open, and how many zones stay open for that."""

from __future__ import annotations

import resource
from contextlib import suppress

#: An idle zone keeps up to twenty files open: four databases, each with its WAL and its index, of
#: one connection that decides and one that answers. Half of what is allowed is for others.
FILES_PER_ZONE = 20
MAX_IDLE_ZONES = 32
# Where there is no hard limit; then the most that macOS allows a process.
_MANY, _MACOS_MANY = 65_536, 10_240


def raise_open_files() -> int:
    """Let this process, and those that it starts, have many files open; return how many.

    The soft limit of a system may be 256, and its hard limit much more.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MANY if hard == resource.RLIM_INFINITY else hard
    for wanted in (most, min(most, _MACOS_MANY)):
        if _more(wanted, soft):
            # macOS takes no more than its kernel allows, whatever the hard limit says.
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                return wanted
    return soft


def _more(wanted: int, soft: int) -> bool:
    return soft != resource.RLIM_INFINITY and wanted > soft


def idle_zones() -> int:
    """Return of how many zones, while nobody uses them, the files stay open in this process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_IDLE_ZONES
    return max(1, min(MAX_IDLE_ZONES, soft // (2 * FILES_PER_ZONE)))
