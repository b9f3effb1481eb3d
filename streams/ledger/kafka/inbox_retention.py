"""The inbox as its sequencers leave it: up to where it is in the ledger, and that nothing of what
was deleted stays on the brokers' disks.

Before records are deleted it is noted in `keys` up to where they were taken in. So whoever meets a
start beyond that knows that somebody else has deleted, and what.

A broker deletes whole files, and never the one to which it appends; it begins another with the
first record after `segment.ms`. Where none comes, a marker is appended, which says nothing. It
stays until the next record, and so tells whoever looks later that nothing is left to do.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from streams.ledger.kafka.clients import Clients, KeyedValue, Place
from streams.ledger.kafka.keys import KafkaKeys
from streams.ledger.kafka.topics import INBOX

# No zone has such a name.
_MARKER = b"recollect:marker"
# The broker's clock and ours are not one.
_SLACK_SECONDS = 1.0


def is_marker(key: bytes | None, value: bytes | None) -> bool:
    """Return whether a record of the inbox is there for the sake of the broker alone."""
    return key == _MARKER and not value


class Inbox:
    """What the sequencers of a ledger do with the inbox, besides taking in what it holds.

    `roll_seconds`: after so long the next record begins another file.
    """

    def __init__(self, clients: Clients, keys: KafkaKeys, roll_seconds: float) -> None:
        self._clients = clients
        self._keys = keys
        self._roll_seconds = roll_seconds
        # Where each partition ended, and since when it does.
        self._seen: dict[int, tuple[int, float]] = {}

    def missing(self, partitions: Collection[int]) -> dict[int, range]:
        """Return the offsets of each partition that were deleted and never taken in."""
        starts = self._clients.starts(_places(partitions))
        # Asked after the starts: whoever deletes has noted it before.
        taken = self._keys.taken_in()
        return {
            partition: range(taken[partition], start)
            for (_, partition), start in starts.items()
            if start > taken[partition]
        }

    def note(self, offsets: Mapping[int, int]) -> None:
        """Note up to where partitions are in the ledger."""
        self._keys.note_taken_in(offsets)

    def delete_before(self, offsets: Mapping[int, int]) -> None:
        """Delete what is in the ledger: the records of partitions below the offsets."""
        self.note(offsets)
        self._clients.delete_before({(INBOX, number): at for number, at in offsets.items()})

    def roll(self, partitions: Collection[int]) -> None:
        """Have the broker give up files of which nothing is left; to be called now and then."""
        places = _places(partitions)
        starts, ends = self._clients.starts(places), self._clients.ends(places)
        now = time.monotonic()
        for place in places:
            number, end = place[1], ends[place]
            if self._seen.get(number, (0, 0.0))[0] != end:
                self._seen[number] = end, now
            elif end and now - self._seen[number][1] > self._roll_seconds + _SLACK_SECONDS:
                self._roll(place, starts[place], end)

    def _roll(self, place: Place, start: int, end: int) -> None:
        left = self._clients.read(place, start, 2) if start < end else []
        if not all(is_marker(record.key, record.value) for record in left):
            return
        # Else what follows the last of them was aborted, and is no record.
        marked = bool(left) and left[-1].offset == end - 1
        upto = end - 1 if marked else end
        if start < upto:
            self.delete_before({place[1]: upto})
        if not marked:
            self._clients.produce(INBOX, {place[1]: [KeyedValue(_MARKER, b"")]})


def _places(partitions: Collection[int]) -> list[Place]:
    return [(INBOX, partition) for partition in sorted(partitions)]
