"""Deleting sequenced records from the inbox, and from the brokers' disks.

Before records are deleted, the offset up to which they are in the ledger is recorded in `keys`. If
a partition starts after that offset, somebody else deleted the records in between.

A broker deletes whole segments, and never the active one. It starts a new segment with the first
record after `segment.ms`. If no record comes, an empty marker is appended. It stays in the inbox
until the next record comes, and shows that nothing is left to do.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from recollect.streams.ledger.kafka.clients import Clients, KeyedValue, LedgerPartition
from recollect.streams.ledger.kafka.keys import KafkaKeys
from recollect.streams.ledger.kafka.topics import INBOX

# The key of a marker; no zone can have this name.
_ROLL_MARKER = b"recollect:marker"
# The broker's clock may differ from ours.
_SLACK_SECONDS = 1.0


def is_marker(key: bytes | None, value: bytes | None) -> bool:
    """Return whether a record of the inbox is a marker that rolls a segment."""
    return key == _ROLL_MARKER and not value


class Inbox:
    """The topic `inbox`, whose retention the ledger's sequencers apply.

    `roll_seconds`: the age at which a segment is closed, and the next record starts a new one.
    """

    def __init__(self, clients: Clients, keys: KafkaKeys, roll_seconds: float) -> None:
        self._clients = clients
        self._keys = keys
        self._roll_seconds = roll_seconds
        # Partition -> its end offset, and when this end was first observed.
        self._seen: dict[int, tuple[int, float]] = {}

    def deleted_unsequenced(self, partitions: Collection[int]) -> dict[int, range]:
        """Return the offsets of each partition that were deleted before they were sequenced."""
        starts = self._clients.starts(_tps(partitions))
        # This is read after the starts, because a sequencer records the offset before it deletes.
        sequenced = self._keys.sequenced_offsets()
        return {
            partition: range(sequenced[partition], start)
            for (_, partition), start in starts.items()
            if start > sequenced[partition]
        }

    def save_sequenced(self, offsets: Mapping[int, int]) -> None:
        """Record up to which offset partitions are in the ledger."""
        self._keys.save_sequenced_offsets(offsets)

    def delete_before(self, offsets: Mapping[int, int]) -> None:
        """Delete the records of partitions below the offsets; they must be in the ledger."""
        self.save_sequenced(offsets)
        self._clients.delete_before({(INBOX, number): at for number, at in offsets.items()})

    def roll_segments(self, partitions: Collection[int]) -> None:
        """Make the broker delete segments whose records are all sequenced; call it periodically."""
        tps = _tps(partitions)
        starts, ends = self._clients.starts(tps), self._clients.ends(tps)
        now = time.monotonic()
        for tp in tps:
            number, end = tp[1], ends[tp]
            if self._seen.get(number, (0, 0.0))[0] != end:
                self._seen[number] = end, now
            elif end and now - self._seen[number][1] > self._roll_seconds + _SLACK_SECONDS:
                self._roll(tp, starts[tp], end)

    def _roll(self, tp: LedgerPartition, start: int, end: int) -> None:
        remaining = self._clients.read(tp, start, 2) if start < end else []
        if not all(is_marker(record.key, record.value) for record in remaining):
            return
        # If the last record is not at the end, only aborted records follow it.
        marked = bool(remaining) and remaining[-1].offset == end - 1
        upto = end - 1 if marked else end
        if start < upto:
            self.delete_before({tp[1]: upto})
        if not marked:
            self._clients.produce(INBOX, {tp[1]: [KeyedValue(_ROLL_MARKER, b"")]})


def _tps(partitions: Collection[int]) -> list[LedgerPartition]:
    return [(INBOX, partition) for partition in sorted(partitions)]
