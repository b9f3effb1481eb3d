"""The settings of the worker, and the interface of the handler to which it delivers."""

from __future__ import annotations

import ssl
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

# A topic's name and a partition's number.
Partition: TypeAlias = tuple[str, int]


class Delivered(NamedTuple):
    """A Kafka record; `timestamp` is unix ms."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


class Handler(Protocol):
    """Receives the records; every method runs in the worker's event loop.

    Deliveries of different partitions run concurrently, those of one partition of one topic never
    do. An error in any method ends the worker, except an error of `deliver` that `is_retryable`
    accepts.

    A worker that was disconnected or suspended for too long may still deliver concurrently with its
    successor, until it learns that it was expelled. Its writes must then be void or idempotent.
    """

    async def started(self) -> None:
        """Called once, before the worker joins the group."""

    async def stopped(self) -> None:
        """Called once, when no delivery is in flight or will follow."""

    async def assigned(self, partitions: Set[Partition]) -> None:
        """The worker now owns these partitions, and no others; not called if it owns none."""

    async def revoked(self, partitions: Set[Partition]) -> None:
        """The worker owns none of these any more; their last deliveries have ended.

        Every rebalance revokes and assigns all partitions.
        """

    def cursor(self, topic: str, partition: int) -> int | None:
        """Return the offset to read next, or None for the start of the log.

        Called after `assigned`, and again after every rebalance.
        """

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        """Handle records, which must be durable on return.

        Within an assignment, records come in order, and each comes once. In a dense topic, no
        offset is missing between two deliveries.
        """

    def is_retryable(self, error: Exception) -> bool:
        """Return whether the same delivery may succeed later; if not, the worker ends."""


@dataclass(frozen=True, kw_only=True)
class Sasl:
    """SASL credentials; `mechanism` is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""

    mechanism: str
    username: str
    password: str


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The Kafka cluster, and how the worker joins its group; times in seconds.

    A worker with a `member` id (static membership) keeps its partitions over a restart within
    `session_timeout`. No two workers may have the same id.
    """

    servers: Sequence[str]
    group: str
    member: str | None = None
    # How long a worker may be silent before others get its partitions.
    session_timeout: float = 10.0
    # How long a rebalance waits for a delivery or takeover in flight.
    rebalance_timeout: float = 60.0
    # How long stopping may take before the process is killed.
    stop_timeout: float = 10.0
    # The maximum number of records in a delivery.
    batch: int = 512
    tls: ssl.SSLContext | None = None
    sasl: Sasl | None = None
