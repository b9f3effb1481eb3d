"""The ledger: topics of records with dense offsets, and the keys of the sealed payloads."""

from recollect.streams.ledger.ledger import (
    CHANGES,
    EVENTS,
    PARTITIONS,
    RECORDINGS,
    SEEK_WINDOW,
    TOPICS,
    KeyStore,
    Ledger,
    LedgerGap,
    LedgerUnavailable,
    Record,
)
from recollect.streams.ledger.partitioner import partition_of

__all__ = [
    "CHANGES",
    "EVENTS",
    "PARTITIONS",
    "RECORDINGS",
    "SEEK_WINDOW",
    "TOPICS",
    "KeyStore",
    "Ledger",
    "LedgerGap",
    "LedgerUnavailable",
    "Record",
    "partition_of",
]
