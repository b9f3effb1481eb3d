"""The limit on open files of this process, and the number of idle zones that it allows."""

from __future__ import annotations

import resource
from contextlib import suppress

#: The number of files that an idle zone keeps open: four databases, each with WAL and shared
#: memory, opened by a connection that decides and one that answers. Idle zones may use half of the
#: limit.
FILES_PER_ZONE = 20
MAX_IDLE_ZONES = 32
# The limit to set if there is no hard limit; the highest limit that macOS accepts.
_MAX_LIMIT, _MAX_MACOS_LIMIT = 65_536, 10_240


def raise_open_file_limit() -> int:
    """Raise the soft limit on open files to the hard limit, for this process and its children.

    Return the new limit. The default soft limit is as low as 256 on some systems.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = _MAX_LIMIT if hard == resource.RLIM_INFINITY else hard
    for limit in (highest, min(highest, _MAX_MACOS_LIMIT)):
        if soft != resource.RLIM_INFINITY and limit > soft:
            # macOS rejects a limit above its kernel's own, whatever the hard limit is.
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
                return limit
    return soft


def max_idle_zones() -> int:
    """Return the number of unused zones whose files stay open in this process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MAX_IDLE_ZONES
    return max(1, min(MAX_IDLE_ZONES, soft // (2 * FILES_PER_ZONE)))
