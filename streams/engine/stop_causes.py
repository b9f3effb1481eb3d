"""Why a zone has stopped: the cause of an error, and what to do, without names of files."""

from __future__ import annotations

import apsw

from recollect.projections.disk_space import is_disk_full
from recollect.schemas.errors import (
    AgentMismatch,
    CorruptFile,
    NewerFormat,
    ReadOnlyHome,
    RecollectError,
)
from recollect.streams.encoder.encoder_errors import EncoderError
from recollect.streams.ledger import LedgerUnavailable

_CAUSES: tuple[tuple[tuple[type[Exception], ...], str], ...] = (
    (
        (apsw.CorruptError, apsw.NotADBError, CorruptFile),
        "a file of the zone is damaged; run recollect doctor to see which, and recollect rebuild "
        "to recreate it",
    ),
    (
        (apsw.BusyError, apsw.LockedError),
        "another process has locked a file of the zone; end that process",
    ),
    ((apsw.ReadOnlyError, ReadOnlyHome), "the home cannot be written; make it writable"),
    (
        (apsw.Error, OSError),
        "a file of the zone cannot be read or written; run recollect doctor to see which",
    ),
    ((EncoderError,), "the encoder cannot be used; run recollect init to install it again"),
    (
        (AgentMismatch,),
        "the zone was processed by other agents; run recollect rebuild --level derive",
    ),
    ((LedgerUnavailable,), "the ledger cannot be reached; check its brokers"),
    ((NewerFormat,), "a newer recollect wrote its records; upgrade recollect"),
    ((RecollectError,), "the home needs repair; run recollect doctor to see how"),
)


def stop_cause(error: Exception) -> str:
    """Return why an error stops a zone, and what to do.

    The text names no file and quotes no content, so whoever may read the zone may see it.
    """
    if is_disk_full(error):
        return "the disk is full; nothing was lost: free some space"
    for kinds, cause in _CAUSES:
        if isinstance(error, kinds):
            return cause
    return f"an unexpected error ({type(error).__name__}); the log of the process has its place"
