"""What the worker is told, and what it asks of the handler that it delivers to."""

from __future__ import annotations

import ssl
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from schemas.errors import RecollectError

# A topic's name and a partition's number.
Partition: TypeAlias = tuple[str, int]


class DeliveryFailed(RecollectError):
    """The worker cannot go on; nothing was committed past what its handler made durable."""


class Delivered(NamedTuple):
    """A record as Kafka holds it; `timestamp` is unix ms."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


class Handler(Protocol):
    """What the records are delivered to; every method runs in the worker's event loop.

    Deliveries of different partitions run side by side, those of one partition of one topic
    never do. Whatever a method raises ends the worker, but for what `retryable` says of an error
    of `deliver`.

    A worker that was cut off or stopped for too long may deliver beside its successor, until it
    hears that it was taken for dead: what it writes must be void then, or a second time the same.
    """

    async def started(self) -> None:
        """Called once, before the worker joins the group."""

    async def stopped(self) -> None:
        """Called once, when no delivery is under way and none will follow."""

    async def assigned(self, partitions: Set[Partition]) -> None:
        """The worker now owns these partitions, and no others; not called where it owns none."""

    async def revoked(self, partitions: Set[Partition]) -> None:
        """The worker owns none of these any more; their last deliveries have ended.

        Every change in the group revokes all partitions and assigns anew.
        """

    def cursor(self, topic: str, partition: int) -> int | None:
        """Return the offset to read next, or None for the start of the log.

        Asked after `assigned`, and again after every change in the group.
        """

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        """Take records, in order, none twice within an assignment; they are durable on return.

        Of a dense topic, no offset is left out between two deliveries.
        """

    def retryable(self, error: Exception) -> bool:
        """Whether the same delivery may succeed later; if not, the worker ends."""


@dataclass(frozen=True, kw_only=True)
class Sasl:
    """How to log in: a mechanism (PLAIN, SCRAM-SHA-256, SCRAM-SHA-512), a name and a password."""

    mechanism: str
    username: str
    password: str


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where Kafka is, and how the worker takes part in its group; times in seconds.

    A worker with a `member` name (static membership) keeps its partitions over a restart that
    takes less than `session_timeout`; others get them only after that. No two may share a name.
    """

    servers: Sequence[str]
    group: str
    member: str | None = None
    # How long a worker may be silent before its partitions go to others.
    session_timeout: float = 10.0
    # How long the group waits for a delivery or a take-over that is under way when it changes.
    rebalance_timeout: float = 60.0
    # How long an end may take before the process is killed.
    stop_timeout: float = 10.0
    # The most records of one delivery.
    batch: int = 512
    tls: ssl.SSLContext | None = None
    sasl: Sasl | None = None
