"""Records too large for a topic: split into fragments, and put together again on reading.

A record's hash is always that of the whole. Fragments of several writers may lie between each
other; a set that never becomes whole, as a writer leaves that dies, is void.
"""

from __future__ import annotations

import msgspec

from schemas.errors import IntegrityError
from schemas.records import decoded, record_hash

#: What Kafka takes as it is delivered is 1,048,576 bytes, its own wrapping included.
MOST_RECORD_BYTES = 900_000
#: How many sets an assembler keeps that are not whole: more than writers ever were at once.
MOST_BEGUN = 16

_pack = msgspec.msgpack.Encoder()


class Fragment(msgspec.Struct, frozen=True, array_like=True, tag="fragment"):
    """A piece of a record as it stands in the topic.

    `whole` is the hash of the record, `check` that of the four fields before it: so a change by
    hand is found where it was made, whether or not the rest of the record is there.
    """

    whole: bytes
    index: int
    count: int
    data: bytes
    check: bytes


# What a fragment has after its first byte, and no other record: they begin with bytes, not text.
_MARK = _pack.encode("fragment")
_fragments = msgspec.msgpack.Decoder(Fragment)


def _check(whole: bytes, index: int, count: int, data: bytes) -> bytes:
    return record_hash(_pack.encode((whole, index, count, data)))


def split(value: bytes, limit: int) -> list[bytes]:
    """Return the records that hold `value`: itself up to `limit` bytes, else fragments of it.

    Each holds `limit` bytes of it, the last one the rest; what wraps them takes about a hundred.
    """
    if len(value) <= limit:
        return [value]
    whole = record_hash(value)
    pieces = [value[start : start + limit] for start in range(0, len(value), limit)]
    count = len(pieces)
    return [
        _pack.encode(Fragment(whole, index, count, data, _check(whole, index, count, data)))
        for index, data in enumerate(pieces)
    ]


def whole_of(value: bytes) -> bytes | None:
    """Return the hash of the record that a fragment is part of; None: it is no fragment."""
    if value[1 : 1 + len(_MARK)] != _MARK:
        return None
    fragment: Fragment = decoded(_fragments, value, "a fragment")
    return fragment.whole


class Assembler:
    """Puts the records of a topic together again, in the order in which they stand there."""

    def __init__(self) -> None:
        self._begun: dict[bytes, list[bytes]] = {}
        #: How many fragments are part of nothing that became whole.
        self.void = 0

    def add(self, value: bytes) -> bytes | None:
        """Return the whole record that the topic's next one is or ends; None where it ends none.

        A set takes nothing but its next piece: copies of those before, and the tail of a record
        whose beginning was not read, are passed over.

        Raises:
            IntegrityError: a fragment was changed after it was written.
        """
        if value[1 : 1 + len(_MARK)] != _MARK:
            return value
        fragment: Fragment = decoded(_fragments, value, "a fragment")
        whole, index, count, data = fragment.whole, fragment.index, fragment.count, fragment.data
        if fragment.check != _check(whole, index, count, data):
            raise IntegrityError("a fragment was changed after it was written")
        self.void += 1
        pieces = self._begun.pop(whole, [])
        if index == len(pieces):
            pieces.append(data)
            if len(pieces) == count:
                joined = b"".join(pieces)
                if record_hash(joined) != whole:
                    raise IntegrityError("the fragments that end here are not those of one record")
                self.void -= count
                return joined
        if pieces:
            # Put back as the newest.
            self._begun[whole] = pieces
        if len(self._begun) > MOST_BEGUN:
            del self._begun[next(iter(self._begun))]
        return None

    def forget(self) -> None:
        """Drop what was begun, as if reading began here."""
        self._begun.clear()
