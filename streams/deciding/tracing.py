"""Tracing: what each decision read, what it led to, and so which decisions rest on which.

With every decision goes a row of its own in memory.db that says under which keys it asked the
state, and under which keys what it decided is found (`recollect.streams.agents.state`). What is
erased later is followed forward from there. The rows of a decision are read from its change record,
where the file says at which offset that is; a decision that an erasure made again brings them
along instead.
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
from recollect.streams.reading.readers import sections_of_today, whole_at

#: The models that agents ask. Rows of others are named by their keys, not repeated.
_ASKED = ("memory", "identity")

RowKey = tuple[str, tuple[str | int, ...]]


class Part(NamedTuple):
    """The rows of a decision that rest on the same sources.

    `named` are the keys of rows that no decision asks for; these are not repeated.
    """

    sources: tuple[int, ...]
    rows: list[AnyRow]
    named: list[RowKey]

    def keys(self) -> Iterator[RowKey]:
        """Yield the key of every row."""
        yield from map(row_key, self.rows)
        yield from self.named


class Untraceable(Exception):
    """A decision has no note on what it depends on, or its change record cannot be opened."""


def traced(number: int, decision: Decision, *, restated: bool = False) -> Decision:
    """Return a decision with the row that says what it depends on, where it depends on anything.

    `restated`: it takes the place of what the change record of `number` says.
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


def parts_of(parts: Sequence[DecidedPart]) -> list[Part]:
    """Return the parts of a decision that was just made."""
    return [Part(part.sources, list(part.puts), []) for part in parts]


def _encode_parts(parts: Sequence[DecidedPart]) -> bytes:
    """Return rows that decisions ask for, and the keys of the others, by their sources."""
    texts = []
    for part in parts:
        asked = [row for row in part.puts if READ_MODEL_OF_ROW[type(row)] in _ASKED]
        named = [row for row in part.puts if READ_MODEL_OF_ROW[type(row)] not in _ASKED]
        keys = [Delete(*row_key(row)) for row in named]
        texts.append((part.sources, encode_part(DecidedPart(part.sources, asked, keys))))
    return _pack.encode((CHANGE_FORMAT, texts))


def _decode_parts(restated: bytes) -> list[Part]:
    format_, texts = _restated.decode(restated)
    return [_part(sources, text, format_) for sources, text in texts]


def _part(sources: tuple[int, ...], text: bytes, format_: int) -> Part:
    rows: list[AnyRow] = []
    named: list[RowKey] = []
    for section in sections_of_today(text, tuple(READ_MODEL_ROWS), format_).values():
        rows += [row for row in section.puts if not isinstance(row, DecisionDependencies)]
        named += [(delete.table, delete.key) for delete in section.deletes]
    return Part(sources, rows, named)


_pack = msgspec.msgpack.Encoder()
_restated = msgspec.msgpack.Decoder(tuple[int, list[tuple[tuple[int, ...], bytes]]])


class Decisions:
    """What the decisions of a zone up to a record depend on, looked up by key."""

    def __init__(
        self, ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, upto: int
    ) -> None:
        """`memory` is the connection of the file that holds them."""
        self._ledger = ledger
        self._zone = zone
        self._chain = chain
        self._memory = memory
        found = memory_queries.decisions(memory, upto)
        self._numbers = np.array([number for number, _, _ in found], np.int64)
        self._reads = _Keys(self._numbers, [reads for _, reads, _ in found])
        self._writes = _Keys(self._numbers, [writes for _, _, writes in found])
        self._parts: dict[int, list[Part]] = {}

    def reads(self, number: int) -> set[bytes]:
        """Return the keys under which a decision asked the state."""
        return self._reads.of(number)

    def writes(self, number: int) -> set[bytes]:
        """Return the keys under which what a decision decided is found."""
        return self._writes.of(number)

    def readers(self, key: bytes) -> npt.NDArray[np.int64]:
        """Return the numbers of the decisions that asked under a key, ascending."""
        return self._reads.holding(key)

    def writers(self, key: bytes) -> npt.NDArray[np.int64]:
        """Return the numbers of the decisions whose rows are found under a key, ascending."""
        return self._writes.holding(key)

    def parts(self, number: int) -> list[Part]:
        """Return what a decision decided.

        Raises:
            Untraceable: it cannot be opened any more.
        """
        if number not in self._parts:
            restated = memory_queries.restated(self._memory, number)
            self._parts[number] = (
                self._recorded(number) if restated is None else _decode_parts(restated)
            )
        return self._parts[number]

    def _recorded(self, number: int) -> list[Part]:
        header, record = self._change(number)
        keys = self._ledger.keys.get(
            [source.key_id for part in record.parts for source in part.sources]
        )
        parts = []
        for sealed in record.parts:
            text = unseal_part(record, sealed, keys)
            if text is None:
                raise Untraceable(f"change {number} rests on what is erased")
            sources = tuple(source.number for source in sealed.sources)
            parts.append(_part(sources, text, header.format))
        return parts

    def _change(self, number: int) -> tuple[ChangeHeader, ChangeRecord]:
        return _change_of(self._ledger, self._zone, self._chain, self._memory, number)


def _change_of(
    ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, number: int
) -> tuple[ChangeHeader, ChangeRecord]:
    offsets = memory_queries.decided_at(memory, (number - 1, number))
    if number not in offsets:
        raise Untraceable(f"change {number} has no known offset")
    begin = offsets.get(number - 1, -1) + 1
    header, record = read_change(whole_at(ledger, zone, begin, offsets[number]))
    if (header.number, header.chain) != (number, chain):
        raise Untraceable(f"change {number} is not at its offset")
    return header, record


def rested_on(
    ledger: Ledger, zone: str, chain: str, memory: apsw.Connection, number: int
) -> frozenset[int]:
    """Return the numbers of all events whose words what a record led to may repeat.

    Raises:
        Untraceable: its change record is not known.
    """
    _, record = _change_of(ledger, zone, chain, memory, number)
    return frozenset(source.number for part in record.parts for source in part.sources)


class _Keys:
    """Keys of numbered decisions, in the order of the decisions and in that of the keys."""

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


def seen_under(rows: Iterable[AnyRow]) -> dict[bytes, dict[RowKey, object]]:
    """Return what decisions see of rows: key -> row -> what; the last of one row counts."""
    found: dict[bytes, dict[RowKey, object]] = {}
    for row in rows:
        for key, seen in touched(row):
            found.setdefault(key, {})[row_key(row)] = seen
    return found
