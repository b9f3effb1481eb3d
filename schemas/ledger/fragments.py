"""Records too large for a topic: split into fragments, and put together again on reading.

A record's hash is always that of the whole record. Fragments of several writers may be interleaved.
A set that never becomes complete, because its writer died, is void.
"""

from __future__ import annotations

import msgspec

from recollect.schemas.errors import IntegrityError
from recollect.schemas.ledger.records import decode, record_hash

#: Kafka's default limit is 1,048,576 bytes, its own framing included.
MAX_FRAGMENT_BYTES = 900_000
#: How many incomplete sets an assembler keeps: more than there ever are writers at once.
MAX_INCOMPLETE_SETS = 16

_pack = msgspec.msgpack.Encoder()


class Fragment(msgspec.Struct, frozen=True, array_like=True, tag="fragment"):
    """A piece of a record in the topic.

    `record_hash`: of the whole record. `checksum`: of the other four fields, so that tampering is
    detected even if the rest of the record is missing.
    """

    record_hash: bytes
    index: int
    count: int
    data: bytes
    checksum: bytes


# The text after a fragment's first byte; other records have bytes there, not text.
_MARK = _pack.encode("fragment")
_fragments = msgspec.msgpack.Decoder(Fragment)


def _checksum(whole: bytes, index: int, count: int, data: bytes) -> bytes:
    return record_hash(_pack.encode((whole, index, count, data)))


def split(value: bytes, limit: int) -> list[bytes]:
    """Return the records for `value`: itself if it has at most `limit` bytes, else its fragments.

    Each has `limit` bytes of it, the last one the rest, and about a hundred bytes of framing.
    """
    if len(value) <= limit:
        return [value]
    whole = record_hash(value)
    pieces = [value[start : start + limit] for start in range(0, len(value), limit)]
    count = len(pieces)
    return [
        _pack.encode(Fragment(whole, index, count, data, _checksum(whole, index, count, data)))
        for index, data in enumerate(pieces)
    ]


def record_hash_of(value: bytes) -> bytes | None:
    """Return the hash of the record that a fragment belongs to; None if it is no fragment."""
    if value[1 : 1 + len(_MARK)] != _MARK:
        return None
    fragment: Fragment = decode(_fragments, value, "a fragment")
    return fragment.record_hash


class Assembler:
    """Joins the fragments of a topic's records, in the order of the topic."""

    def __init__(self) -> None:
        self._incomplete: dict[bytes, list[bytes]] = {}
        #: How many fragments belong to no complete record.
        self.void = 0

    def add(self, value: bytes) -> bytes | None:
        """Return the record that the topic's next one is or completes; None if it completes none.

        A set accepts only its next piece: copies of earlier pieces, and pieces of a record whose
        beginning was not read, are skipped.

        Raises:
            IntegrityError: a fragment was changed after it was written.
        """
        if value[1 : 1 + len(_MARK)] != _MARK:
            return value
        fragment: Fragment = decode(_fragments, value, "a fragment")
        whole, index, count, data = (
            fragment.record_hash,
            fragment.index,
            fragment.count,
            fragment.data,
        )
        if fragment.checksum != _checksum(whole, index, count, data):
            raise IntegrityError("a fragment was changed after it was written")
        self.void += 1
        pieces = self._incomplete.pop(whole, [])
        if index == len(pieces):
            pieces.append(data)
            if len(pieces) == count:
                joined = b"".join(pieces)
                if record_hash(joined) != whole:
                    raise IntegrityError("the fragments that end here are not those of one record")
                self.void -= count
                return joined
        if pieces:
            # Insert again, as the newest.
            self._incomplete[whole] = pieces
        if len(self._incomplete) > MAX_INCOMPLETE_SETS:
            del self._incomplete[next(iter(self._incomplete))]
        return None

    def reset(self) -> None:
        """Drop incomplete sets, as if reading began here."""
        self._incomplete.clear()
