"""The settings of the worker, and the interface of the handler to which it delivers."""

from __future__ import annotations

import ssl
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from recollect.schemas.errors import RecollectError

# A topic's name and a partition's number.
Partition: TypeAlias = tuple[str, int]


class DeliveryFailed(RecollectError):
    """The worker cannot go on; nothing was committed beyond what its handler made durable."""


class Delivered(NamedTuple):
    """A record as it is in Kafka; `timestamp` is unix ms."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int


class Handler(Protocol):
    """The receiver of the records; every method runs in the worker's event loop.

    Deliveries of different partitions run at the same time, those of one partition of one topic
    never do. Every error of a method ends the worker, except a `retryable` one of `deliver`.

    A worker that was disconnected or stopped for too long may still deliver while its successor
    does, until it learns that it was taken for dead. What it writes then must be void, or the same
    as before.
    """

    async def started(self) -> None:
        """Called once, before the worker joins the group."""

    async def stopped(self) -> None:
        """Called once, when no delivery is under way or will follow."""

    async def assigned(self, partitions: Set[Partition]) -> None:
        """The worker now owns these partitions, and no others; not called if it owns none."""

    async def revoked(self, partitions: Set[Partition]) -> None:
        """The worker owns none of these any more; their last deliveries have ended.

        Every change in the group revokes and assigns all partitions.
        """

    def cursor(self, topic: str, partition: int) -> int | None:
        """Return the offset to read next, or None for the start of the log.

        Called after `assigned`, and again after every change in the group.
        """

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        """Handle records; they are durable on return. They come in order, none twice in an
        assignment.

        In a dense topic, no offset is missing between two deliveries.
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
    # How long a worker may be silent before others get its partitions.
    session_timeout: float = 10.0
    # How long a change in the group waits for a delivery or take-over that is under way.
    rebalance_timeout: float = 60.0
    # How long stopping may take before the process is killed.
    stop_timeout: float = 10.0
    # The most records of one delivery.
    batch: int = 512
    tls: ssl.SSLContext | None = None
    sasl: Sasl | None = None
