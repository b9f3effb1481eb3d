"""The ledger: topics of records with dense offsets, and the keys of what they seal."""

from streams.ledger.ledger import (
    CHANGES,
    EVENTS,
    NEAR,
    PARTITIONS,
    RECORDINGS,
    TOPICS,
    KeyStore,
    Ledger,
    LedgerGap,
    LedgerUnavailable,
    Record,
)
from streams.ledger.partitioner import partition_of
from streams.ledger.sequencer import Receipt

__all__ = [
    "CHANGES",
    "EVENTS",
    "NEAR",
    "PARTITIONS",
    "RECORDINGS",
    "TOPICS",
    "KeyStore",
    "Ledger",
    "LedgerGap",
    "LedgerUnavailable",
    "Receipt",
    "Record",
    "partition_of",
]
