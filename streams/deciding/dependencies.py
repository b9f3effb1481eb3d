"""Dependencies between decisions: the keys that each read and wrote.

Each decision has a row in memory.db with the keys under which it queried the state, and those under
which its own rows are found (`recollect.streams.agents.state`). An erasure follows them forward.
The rows of a decision are read from its change record, whose offset is in memory.db; a decision
that an erasure made again has them in its row instead.
"""

from __future__ import annotations

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
from recollect.streams.agents.state import KEY_BYTES, key_of_event, touched
from recollect.streams.deciding.decider import Decision
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import current_sections, record_ending_at

#: The read models that agents query. Rows of others are stored by key only.
_QUERIED_MODELS = ("memory", "identity")

RowKey = tuple[str, tuple[str | int, ...]]


class TracedPart(NamedTuple):
    """The rows of a decision with the same sources.

    `named` are the keys of rows that no decision reads; the rows themselves are not stored.
    """

    sources: tuple[int, ...]
    rows: list[AnyRow]
    named: list[RowKey]

    def keys(self) -> Iterator[RowKey]:
        """Yield the key of every row."""
        yield from map(row_key, self.rows)
        yield from self.named


class DependenciesUnknown(Exception):
    """A decision's dependencies are not recorded, or its change record cannot be unsealed."""


def with_dependencies(number: int, decision: Decision, *, restated: bool = False) -> Decision:
    """Add the row with a decision's dependencies, if it has any.

    `restated`: the row also has the decision itself, replacing the change record of `number`.
    """
    parts = decision.parts
    rests_on = {number}.union(*(part.sources for part in parts if part.puts or part.deletes))
    writes = {key for part in parts for row in part.puts for key, _ in touched(row)}
    reads = decision.reads | {key_of_event(each) for each in rests_on - {number}}
    if not (reads or writes or restated):
        return decision
    sources = tuple(sorted(rests_on))
    row = DecisionDependencies(
        number,
        b"".join(sorted(reads)),
        b"".join(sorted(writes)),
        _encode_parts(parts) if restated else None,
    )
    same = next((part for part in parts if part.sources == sources), None)
    if same is None:
        return decision._replace(parts=[*parts, DecidedPart(sources, puts=[row])])
    whole = DecidedPart(sources, [*same.puts, row], same.deletes, same.outbox)
    return decision._replace(parts=[whole if part is same else part for part in parts])


def parts_of(parts: Sequence[DecidedPart]) -> list[TracedPart]:
    """Convert the parts of a new decision."""
    return [TracedPart(part.sources, list(part.puts), []) for part in parts]


def _encode_parts(parts: Sequence[DecidedPart]) -> bytes:
    """Encode the rows that decisions read, and the keys of the others, by their sources."""
    texts = []
    for part in parts:
        asked = [row for row in part.puts if READ_MODEL_OF_ROW[type(row)] in _QUERIED_MODELS]
        named = [row for row in part.puts if READ_MODEL_OF_ROW[type(row)] not in _QUERIED_MODELS]
        keys = [Delete(*row_key(row)) for row in named]
        texts.append((part.sources, encode_part(DecidedPart(part.sources, asked, keys))))
    return _pack.encode((CHANGE_FORMAT, texts))


def _decode_parts(restated: bytes) -> list[TracedPart]:
    format_, texts = _restated.decode(restated)
    return [_part(sources, text, format_) for sources, text in texts]


def _part(sources: tuple[int, ...], text: bytes, format_: int) -> TracedPart:
    rows: list[AnyRow] = []
    named: list[RowKey] = []
    for section in current_sections(text, tuple(READ_MODEL_ROWS), format_).values():
        rows += [row for row in section.puts if not isinstance(row, DecisionDependencies)]
        named += [(delete.table, delete.key) for delete in section.deletes]
    return TracedPart(sources, rows, named)


_pack = msgspec.msgpack.Encoder()
_restated = msgspec.msgpack.Decoder(tuple[int, list[tuple[tuple[int, ...], bytes]]])


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
        found = memory_queries.decisions(memory, upto)
        self._numbers = np.array([number for number, _, _ in found], np.int64)
        self._reads = _KeyIndex(self._numbers, [reads for _, reads, _ in found])
        self._writes = _KeyIndex(self._numbers, [writes for _, _, writes in found])
        self._parts: dict[int, list[TracedPart]] = {}

    def reads(self, number: int) -> set[bytes]:
        """Return the keys that a decision read."""
        return self._reads.of(number)

    def writes(self, number: int) -> set[bytes]:
        """Return the keys that a decision wrote."""
        return self._writes.of(number)

    def readers(self, key: bytes) -> npt.NDArray[np.int64]:
        """Return the numbers of the decisions that read a key, ascending."""
        return self._reads.holding(key)

    def writers(self, key: bytes) -> npt.NDArray[np.int64]:
        """Return the numbers of the decisions that wrote a key, ascending."""
        return self._writes.holding(key)

    def parts(self, number: int) -> list[TracedPart]:
        """Return the parts of a decision.

        Raises:
            Untraceable: it can no longer be unsealed.
        """
        if number not in self._parts:
            restated = memory_queries.replacement_rows(self._memory, number)
            self._parts[number] = (
                self._recorded(number) if restated is None else _decode_parts(restated)
            )
        return self._parts[number]

    def _recorded(self, number: int) -> list[TracedPart]:
        header, record = self._change(number)
        keys = self._ledger.keys.get(
            [source.key_id for part in record.parts for source in part.sources]
        )
        parts = []
        for sealed in record.parts:
            text = unseal_part(record, sealed, keys)
            if text is None:
                raise DependenciesUnknown(f"change {number} has an erased source")
            sources = tuple(source.number for source in sealed.sources)
            parts.append(_part(sources, text, header.format))
        return parts

    def _change(self, number: int) -> tuple[ChangeHeader, ChangeRecord]:
        return _change_of(self._ledger, self._zone, self._chain, self._memory, number)


def _change_of(
    ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, number: int
) -> tuple[ChangeHeader, ChangeRecord]:
    offsets = memory_queries.change_offsets(memory, (number - 1, number))
    if number not in offsets:
        raise DependenciesUnknown(f"change {number} has no known offset")
    begin = offsets.get(number - 1, -1) + 1
    header, record = read_change(record_ending_at(ledger, zone, begin, offsets[number]))
    if (header.number, header.chain) != (number, chain):
        raise DependenciesUnknown(f"change {number} is not at its offset")
    return header, record


def source_event_numbers(
    ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, number: int
) -> frozenset[int]:
    """Return the numbers of all source events of a record's decision.

    Raises:
        Untraceable: its change record is unknown.
    """
    _, record = _change_of(ledger, zone, chain, memory, number)
    return frozenset(source.number for part in record.parts for source in part.sources)


class _KeyIndex:
    """The keys of decisions, by decision and inverted by key."""

    def __init__(self, numbers: npt.NDArray[np.int64], keys: Sequence[bytes]) -> None:
        self._numbers = numbers
        self._flat = b"".join(keys)
        lengths = np.array([len(each) // KEY_BYTES for each in keys], np.int64)
        self._ends = np.cumsum(lengths)
        values = np.frombuffer(self._flat, ">u8")
        order = np.argsort(values, kind="stable")
        self._sorted = values[order].astype(np.uint64)
        self._owners = np.repeat(numbers, lengths)[order]

    def of(self, number: int) -> set[bytes]:
        place = int(np.searchsorted(self._numbers, number))
        if place == len(self._numbers) or self._numbers[place] != number:
            return set()
        end = int(self._ends[place])
        begin = int(self._ends[place - 1]) if place else 0
        return {
            self._flat[start : start + KEY_BYTES]
            for start in range(begin * KEY_BYTES, end * KEY_BYTES, KEY_BYTES)
        }

    def holding(self, key: bytes) -> npt.NDArray[np.int64]:
        wanted = np.uint64(int.from_bytes(key, "big"))
        first = np.searchsorted(self._sorted, wanted, "left")
        last = np.searchsorted(self._sorted, wanted, "right")
        return self._owners[first:last]


def views_by_key(rows: Iterable[AnyRow]) -> dict[bytes, dict[RowKey, object]]:
    """Return what queries see of rows: key -> row key -> value; of one row the last counts."""
    found: dict[bytes, dict[RowKey, object]] = {}
    for row in rows:
        for key, seen in touched(row):
            found.setdefault(key, {})[row_key(row)] = seen
    return found
