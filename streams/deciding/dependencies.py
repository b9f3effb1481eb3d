"""Dependencies between decisions: the keys that each decision read and wrote.

Each decision has a row in memory.db with the keys under which it queried the state, and the keys
under which its own rows are found (`recollect.streams.agents.state`). An erasure follows these
dependencies forward. The rows that a decision wrote are read from its change record, whose
offset is in memory.db. If an erasure has repeated the decision, its new rows are read from the
decision's own row in memory.db instead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import apsw
import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.memory import memory_queries
from recollect.projections.readmodel import row_key
from recollect.schemas.changes import (
    READ_MODEL_OF_ROW,
    READ_MODEL_ROWS,
    AnyRow,
    DecidedPart,
    DecisionDependencies,
    Delete,
    encode_part,
)
from recollect.schemas.ledger.records import (
    CHANGE_FORMAT,
    ChangeHeader,
    ChangeRecord,
    read_change,
    unseal_part,
)
from recollect.streams.agents.state import (
    KEY_BYTES,
    WriterSearch,
    key_of_event,
    keys_of_row,
)
from recollect.streams.deciding.decider import Decision
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import current_sections, record_ending_at

#: The read models that agents query. Of the rows of other models, only the primary keys are
#: stored.
_QUERIED_MODELS = ("memory", "identity")

RowKey = tuple[str, tuple[str | int, ...]]


class RecordedPart(NamedTuple):
    """The rows of a decision with the same sources.

    `unqueried`: the keys of the rows that no decision queries; the rows themselves are not kept.
    """

    sources: tuple[int, ...]
    rows: list[AnyRow]
    unqueried: list[RowKey]

    def keys(self) -> Iterator[RowKey]:
        """Yield the key of every row."""
        yield from map(row_key, self.rows)
        yield from self.unqueried


#: The last version of each row of a decision, with its sources.
DecisionRows = dict[RowKey, tuple[AnyRow, tuple[int, ...]]]


class DependenciesUnknown(Exception):
    """A decision's dependencies are not recorded, or its change record cannot be unsealed."""


def with_dependencies(number: int, decision: Decision, *, restated: bool = False) -> Decision:
    """Add the row with a decision's dependencies, if it has any.

    `restated`: an erasure repeated this decision. The row then also contains the new decision, to
    be read in place of change record `number`.
    """
    parts = decision.parts
    numbers = {number}.union(*(part.sources for part in parts if part.puts or part.deletes))
    writes = {key for part in parts for row in part.puts for key, _ in keys_of_row(row)}
    reads = decision.reads | {key_of_event(read) for read in numbers - {number}}
    if not (reads or writes or restated):
        return decision
    sources = tuple(sorted(numbers))
    row = DecisionDependencies(
        number,
        b"".join(sorted(reads)),
        b"".join(sorted(writes)),
        _encode_parts(parts) if restated else None,
    )
    existing = next((part for part in parts if part.sources == sources), None)
    if existing is None:
        return decision._replace(parts=[*parts, DecidedPart(sources, puts=[row])])
    extended = DecidedPart(sources, [*existing.puts, row], existing.deletes, existing.outbox)
    return decision._replace(parts=[extended if part is existing else part for part in parts])


def parts_of(parts: Sequence[DecidedPart]) -> list[RecordedPart]:
    """Convert the parts of a new decision to recorded parts that keep all rows."""
    return [RecordedPart(part.sources, list(part.puts), []) for part in parts]


def rows_of(parts: Sequence[RecordedPart]) -> DecisionRows:
    """Return the rows of a decision by their primary keys."""
    return {row_key(row): (row, part.sources) for part in parts for row in part.rows}


def _encode_parts(parts: Sequence[DecidedPart]) -> bytes:
    """Encode the rows that decisions query, and the keys of all other rows, by their sources."""
    encoded = []
    for part in parts:
        queried = [row for row in part.puts if READ_MODEL_OF_ROW[type(row)] in _QUERIED_MODELS]
        others = [row for row in part.puts if READ_MODEL_OF_ROW[type(row)] not in _QUERIED_MODELS]
        row_keys = [Delete(*row_key(row)) for row in others]
        encoded.append((part.sources, encode_part(DecidedPart(part.sources, queried, row_keys))))
    return _parts_encoder.encode((CHANGE_FORMAT, encoded))


def _decode_parts(restated: bytes) -> list[RecordedPart]:
    format_, encoded = _parts_decoder.decode(restated)
    return [_decode_part(sources, part, format_) for sources, part in encoded]


def _decode_part(sources: tuple[int, ...], encoded: bytes, format_: int) -> RecordedPart:
    rows: list[AnyRow] = []
    unqueried: list[RowKey] = []
    for section in current_sections(encoded, tuple(READ_MODEL_ROWS), format_).values():
        rows += [row for row in section.puts if not isinstance(row, DecisionDependencies)]
        unqueried += [(delete.table, delete.key) for delete in section.deletes]
    return RecordedPart(sources, rows, unqueried)


_parts_encoder = msgspec.msgpack.Encoder()
_parts_decoder = msgspec.msgpack.Decoder(tuple[int, list[tuple[tuple[int, ...], bytes]]])


class DependencyIndex:
    """The dependencies of a zone's decisions up to a record, indexed by key."""

    def __init__(
        self, ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, upto: int
    ) -> None:
        """`memory` is the connection of memory.db."""
        self._ledger = ledger
        self._zone = zone
        self._chain = chain
        self._memory = memory
        decisions = memory_queries.decisions(memory, upto)
        self._numbers = np.array([number for number, _, _ in decisions], np.int64)
        self._reads = _KeyIndex(self._numbers, [reads for _, reads, _ in decisions])
        self._writes = _KeyIndex(self._numbers, [writes for _, _, writes in decisions])
        self._parts: dict[int, list[RecordedPart]] = {}
        self._rows: dict[int, DecisionRows] = {}

    def reads(self, number: int) -> set[bytes]:
        """Return the keys that a decision read."""
        return self._reads.keys_of(number)

    def writes(self, number: int) -> set[bytes]:
        """Return the keys that a decision wrote."""
        return self._writes.keys_of(number)

    def readers(self, key: bytes) -> Sequence[int]:
        """Return the numbers of the decisions that read a key, ascending."""
        return self._reads.numbers_with(key)

    def writers(self, key: bytes) -> Sequence[int]:
        """Return the numbers of the decisions that wrote a key, ascending."""
        return self._writes.numbers_with(key)

    def writers_of_row(self, search: WriterSearch) -> Sequence[int]:
        """Return the numbers of the decisions that may have written a row, ascending."""
        found = self.writers(search.key)
        if search.event is None:
            return found
        with_event = {search.event, *self.readers(key_of_event(search.event))}
        return sorted(number for number in with_event if _contains(found, number))

    def parts(self, number: int) -> list[RecordedPart]:
        """Return the parts of a decision.

        Raises:
            DependenciesUnknown: its change record can no longer be unsealed.
        """
        if number not in self._parts:
            restated = memory_queries.replacement_rows(self._memory, number)
            self._parts[number] = (
                self._unseal_parts(number) if restated is None else _decode_parts(restated)
            )
        return self._parts[number]

    def rows(self, number: int) -> DecisionRows:
        """Return the rows of a decision.

        Raises:
            DependenciesUnknown: its change record can no longer be unsealed.
        """
        if number not in self._rows:
            self._rows[number] = rows_of(self.parts(number))
        return self._rows[number]

    def _unseal_parts(self, number: int) -> list[RecordedPart]:
        header, record = _change_of(self._ledger, self._zone, self._chain, self._memory, number)
        encryption_keys = self._ledger.keys.get(
            [source.key_id for part in record.parts for source in part.sources]
        )
        parts = []
        for sealed in record.parts:
            encoded = unseal_part(record, sealed, encryption_keys)
            if encoded is None:
                raise DependenciesUnknown(f"change {number} has an erased source")
            sources = tuple(source.number for source in sealed.sources)
            parts.append(_decode_part(sources, encoded, header.format))
        return parts


def _change_of(
    ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, number: int
) -> tuple[ChangeHeader, ChangeRecord]:
    offsets = memory_queries.change_offsets(memory, (number - 1, number))
    if number not in offsets:
        raise DependenciesUnknown(f"the offset of change {number} is unknown")
    begin = offsets.get(number - 1, -1) + 1
    header, record = read_change(record_ending_at(ledger, zone, begin, offsets[number]))
    if (header.number, header.chain) != (number, chain):
        raise DependenciesUnknown(f"change record {number} was not found at its recorded offset")
    return header, record


def source_event_numbers(
    ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, number: int
) -> frozenset[int]:
    """Return the numbers of all source events of a record's decision.

    Raises:
        DependenciesUnknown: its change record is not at its recorded offset.
    """
    _, record = _change_of(ledger, zone, chain, memory, number)
    return frozenset(source.number for part in record.parts for source in part.sources)


class _KeyIndex:
    """An index of the keys of decisions, for look-ups by decision and by key."""

    def __init__(self, numbers: npt.NDArray[np.int64], keys: Sequence[bytes]) -> None:
        self._numbers = numbers
        self._joined_keys = b"".join(keys)
        lengths = np.array([len(digest) // KEY_BYTES for digest in keys], np.int64)
        self._ends = np.cumsum(lengths)
        # Keys are hashes, so their first two bytes divide them evenly, and NumPy sorts two bytes in
        # linear time. An erasure looks up too few keys for a full sort to pay.
        values = np.frombuffer(self._joined_keys, ">u8")
        buckets = np.frombuffer(self._joined_keys, ">u2")[:: KEY_BYTES // 2].astype(np.uint16)
        order = np.argsort(buckets, kind="stable")
        self._bucket_ends = np.cumsum(np.bincount(buckets, minlength=1 << 16))
        self._by_bucket = values[order]
        self._owners = np.repeat(numbers, lengths)[order]
        self._numbers_with: dict[bytes, list[int]] = {}

    def keys_of(self, number: int) -> set[bytes]:
        at = int(np.searchsorted(self._numbers, number))
        if at == len(self._numbers) or self._numbers[at] != number:
            return set()
        end = int(self._ends[at])
        begin = int(self._ends[at - 1]) if at else 0
        return {
            self._joined_keys[start : start + KEY_BYTES]
            for start in range(begin * KEY_BYTES, end * KEY_BYTES, KEY_BYTES)
        }

    def numbers_with(self, key: bytes) -> Sequence[int]:
        # Decisions share keys, so most are looked up many times.
        if key not in self._numbers_with:
            self._numbers_with[key] = self._find(key)
        return self._numbers_with[key]

    def _find(self, key: bytes) -> list[int]:
        bucket = int.from_bytes(key[:2], "big")
        begin = self._bucket_ends[bucket - 1] if bucket else 0
        end = self._bucket_ends[bucket]
        has_key: npt.NDArray[np.bool_] = self._by_bucket[begin:end] == np.uint64(
            int.from_bytes(key, "big")
        )
        found: list[int] = self._owners[begin:end][has_key].tolist()
        return found


def _contains(ascending: Sequence[int], number: int) -> bool:
    at = bisect_left(ascending, number)
    return at < len(ascending) and ascending[at] == number


def results_by_lookup_key(rows: Iterable[AnyRow]) -> dict[bytes, dict[RowKey, object]]:
    """Return what queries would return of rows: lookup key -> primary key of the row -> value.

    Later rows replace earlier ones.
    """
    found: dict[bytes, dict[RowKey, object]] = {}
    for row in rows:
        for key, value in keys_of_row(row):
            found.setdefault(key, {})[row_key(row)] = value
    return found
