"""The interface of a ledger, which the embedded ledger and the Kafka ledger implement."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import msgspec

from recollect.schemas.errors import IntegrityError, RecollectError
from recollect.schemas.events import Draft
from recollect.schemas.ledger.records import Envelope

if TYPE_CHECKING:
    from recollect.schemas.wire import Receipt

PARTITIONS = 12

EVENTS = "events"
CHANGES = "changes"
RECORDINGS = "recordings"
TOPICS = (EVENTS, CHANGES, RECORDINGS)

#: The approximate number of events of a zone that a reader may have to skip after a seek.
SEEK_WINDOW = 32


class LedgerGap(IntegrityError):
    """A record is missing: an offset does not exist, or a topic ends before what was once read."""


class LedgerUnavailable(RecollectError):
    """The ledger cannot be reached now; its content is not affected."""


class Record(NamedTuple):
    """A record of a topic: its offset in the partition, its key (the zone), its bytes."""

    offset: int
    zone: str
    value: bytes


class Head(msgspec.Struct, frozen=True):
    """The last accepted event of a zone: its number (0: none yet) and its hash."""

    number: int
    hash: bytes


class KeyStore(ABC):
    """The keys of sealed payloads, stored outside the ledger until they are destroyed."""

    @property
    @abstractmethod
    def secret(self) -> bytes:
        """The secret with which source ids are hashed; 32 bytes."""

    @abstractmethod
    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the keys that exist; a missing key that no erasure destroyed has been lost."""

    @abstractmethod
    def add(self, keys: Mapping[bytes, bytes]) -> None:
        """Store keys; they are durable when this returns."""

    @abstractmethod
    def destroy(self, key_ids: Iterable[bytes]) -> None:
        """Remove keys for good; doing so twice is not an error."""


class Ledger(ABC):
    """Topics of `PARTITIONS` partitions; all records of a zone are in one partition, in order.

    Within a partition offsets are dense. Events are numbered and chained per zone by `publish`;
    every other record is appended unchecked, and readers tell by its chain whether it counts.
    Nothing here shares a transaction with the read models.
    """

    #: Whether several nodes share the ledger, so that each reads the decisions of the others.
    shared: ClassVar[bool] = False

    @property
    @abstractmethod
    def keys(self) -> KeyStore:
        """The keys of the ledger's payloads."""

    def workers(self) -> int:
        """Return the number of workers that decide; 0 if the calling process decides itself."""
        return 0

    @abstractmethod
    def publish(self, zone: str, drafts: Sequence[Draft]) -> list[Receipt]:
        """Put drafts into the `events` topic, in order, and return a receipt for each.

        A draft whose source id the zone knows already is not appended again: its receipt says
        duplicate, or conflict if the known event has another content. A call appends all its new
        events durably, or none of them.
        """

    def publish_all(self, drafts: Mapping[str, Sequence[Draft]]) -> dict[str, list[Receipt]]:
        """Publish to several zones, each as `publish` does; return the receipts by zone."""
        return {zone: self.publish(zone, zone_drafts) for zone, zone_drafts in drafts.items()}

    @abstractmethod
    def append(self, topic: str, zone: str, values: Sequence[bytes]) -> None:
        """Append records to the zone's partition; they are durable when this returns."""

    @abstractmethod
    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        """Return up to `limit` records from `offset` on; if `zone` is given, only its records.

        Raises:
            LedgerGap: `offset` is beyond the end, or an offset is missing. With `zone`, missing
                offsets are not noticed.
        """

    @abstractmethod
    def end(self, topic: str, partition: int) -> int:
        """Return the offset that the next record of the partition will have."""

    @abstractmethod
    def appended_at(self, topic: str, partition: int, offset: int) -> int | None:
        """Return when a record was appended (unix ms), or None if that is not recorded."""

    @abstractmethod
    def zones(self) -> list[str]:
        """Return every zone that has an event, sorted."""

    @abstractmethod
    def head(self, zone: str) -> Head:
        """Return the last accepted event of a zone; number 0 if there is none."""

    @abstractmethod
    def seek(self, zone: str, number: int) -> tuple[int, int, bytes]:
        """Return an accepted event after which to start reading: number, next offset and hash.

        It is event `number`, or one of about `SEEK_WINDOW` events before it. (0, 0, GENESIS) means
        the beginning of the zone.
        """

    @abstractmethod
    def events_of_kind(self, zone: str, kind: str, offset: int) -> list[Record]:
        """Return a zone's accepted events of a kind, from `offset` on to the end of the ledger.

        On Kafka that is the broker's end, not the end of this node's copy.
        """

    @abstractmethod
    def event_of_source(self, zone: str, source: bytes) -> bytes | None:
        """Return the record of the accepted event with this keyed hash of a source id."""

    def unfetched_count(self, zone: str) -> int:
        """Return how many events of the zone this node has not fetched yet."""
        return 0

    @abstractmethod
    def platforms(self, zone: str) -> list[str]:
        """Return the platforms of a zone's accepted events, sorted; erased events included."""

    @abstractmethod
    def check(self, zone: str, events: Sequence[tuple[int, Envelope]], head: Head) -> list[str]:
        """Return where the indexes of events differ from the zone's accepted events.

        `events`: the offset and the envelope of each accepted event. `head`: the last accepted
        event.
        """

    @abstractmethod
    def wait(
        self,
        ends: Mapping[tuple[str, int], int],
        timeout: float,
        stopped: threading.Event | None = None,
    ) -> bool:
        """Wait for a partition to grow beyond its given end.

        An append by this process ends the wait at once, an append by another within 50 ms. Return
        False after `timeout` seconds, or within 50 ms of `stopped`.
        """

    @abstractmethod
    def close(self) -> None:
        """Release files and connections; using the ledger afterwards is an error."""
