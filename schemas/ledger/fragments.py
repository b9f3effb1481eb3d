"""Fragmentation of large records: splitting, and reassembly on reading.

A record's hash is always the hash of the unsplit record. Fragments of several writers may
interleave. Incomplete sets, left by a crashed writer, are ignored.
"""

from __future__ import annotations

import msgspec

from recollect.schemas.errors import RESTORE_LEDGER, IntegrityError
from recollect.schemas.ledger.records import decode, record_hash

#: Below Kafka's default limit of 1,048,576 bytes, which includes its framing.
MAX_FRAGMENT_BYTES = 900_000
#: Number of incomplete sets that an assembler keeps; there are never as many concurrent writers.
MAX_INCOMPLETE_SETS = 16

_pack = msgspec.msgpack.Encoder()


class Fragment(msgspec.Struct, frozen=True, array_like=True, tag="fragment"):
    """A piece of a record in the topic.

    `record_hash`: hash of the whole record. `checksum`: hash of the other four fields; it reveals
    tampering even if the other fragments are missing.
    """

    record_hash: bytes
    index: int
    count: int
    data: bytes
    checksum: bytes


# The encoded tag after a fragment's first byte; other records have a byte string there.
_MARK = _pack.encode("fragment")
_fragments = msgspec.msgpack.Decoder(Fragment)


def _checksum(hash_: bytes, index: int, count: int, data: bytes) -> bytes:
    return record_hash(_pack.encode((hash_, index, count, data)))


def split(value: bytes, limit: int) -> list[bytes]:
    """Return `value` if it has at most `limit` bytes, else its fragments.

    Each fragment has `limit` bytes of `value` (the last one has the remainder) and about 100 bytes
    of framing.
    """
    if len(value) <= limit:
        return [value]
    hash_ = record_hash(value)
    pieces = [value[start : start + limit] for start in range(0, len(value), limit)]
    count = len(pieces)
    return [
        _pack.encode(Fragment(hash_, index, count, data, _checksum(hash_, index, count, data)))
        for index, data in enumerate(pieces)
    ]


def record_hash_of(value: bytes) -> bytes | None:
    """Return the hash of the record that `value` is a fragment of; None if it is not a fragment."""
    if value[1 : 1 + len(_MARK)] != _MARK:
        return None
    fragment: Fragment = decode(_fragments, value, "a fragment")
    return fragment.record_hash


class Assembler:
    """Reassembles fragments in topic order."""

    def __init__(self) -> None:
        self._incomplete: dict[bytes, list[bytes]] = {}
        #: Number of fragments read that belong to no complete record.
        self.void = 0

    def add(self, value: bytes) -> bytes | None:
        """Add a record of the topic; return it, or the record that it completes, or None.

        Only the next fragment of a set is added to it. Repeated fragments, and fragments of a
        record whose beginning was not read, are skipped.

        Raises:
            IntegrityError: a fragment was changed after it was written.
        """
        if value[1 : 1 + len(_MARK)] != _MARK:
            return value
        fragment: Fragment = decode(_fragments, value, "a fragment")
        hash_, index, count, data = (
            fragment.record_hash,
            fragment.index,
            fragment.count,
            fragment.data,
        )
        if fragment.checksum != _checksum(hash_, index, count, data):
            raise IntegrityError(
                "a fragment of a record does not match its checksum: it was changed after it was "
                f"written; {RESTORE_LEDGER}"
            )
        self.void += 1
        pieces = self._incomplete.pop(hash_, [])
        if index == len(pieces):
            pieces.append(data)
            if len(pieces) == count:
                joined = b"".join(pieces)
                if record_hash(joined) != hash_:
                    raise IntegrityError(
                        f"the fragments of a record do not match its hash; {RESTORE_LEDGER}"
                    )
                self.void -= count
                return joined
        if pieces:
            # Reinsert as the newest.
            self._incomplete[hash_] = pieces
        if len(self._incomplete) > MAX_INCOMPLETE_SETS:
            del self._incomplete[next(iter(self._incomplete))]
        return None

    def reset(self) -> None:
        """Discard incomplete sets."""
        self._incomplete.clear()
