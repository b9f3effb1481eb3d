"""Compute an erasure: the difference from the live zone to the zone without the erased events.

The target is the zone derived again as if the erased events had never been readable. The change
record of an erasure must lead to the target from two states: the state of the live zone, and the
state of a lagging replica, which cannot unseal parts with an erased source (affected parts). These
states differ only in the rows of affected parts. So the change record contains two sets of rows,
with their values in the target: the rows in which the live zone and the target differ, and all rows
of affected parts. Each row is sealed with the keys of its sources in the target, so that a later
erasure reaches it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import apsw
import msgspec

from recollect.projections.embeddings.vector_queries import (
    annotations_of_event,
    tokens_of_text,
    vector_of_text,
)
from recollect.projections.file_permissions import delete_directory
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.memory_queries import dead_letters, is_traced
from recollect.projections.readmodel import ReadModel, rows_by_key
from recollect.projections.sqlite import connect
from recollect.schemas.changes import (
    READ_MODEL_ROWS,
    AnyRow,
    DeadLetter,
    DecidedPart,
    DecisionDependencies,
    Delete,
    Row,
)
from recollect.schemas.ledger.records import Source
from recollect.streams.agents import Agent
from recollect.streams.deciding.decider import Decider, Decision
from recollect.streams.deciding.dependencies import DependenciesUnknown
from recollect.streams.deciding.redeciding import Redecision
from recollect.streams.encoder.gateway import EncoderGateway, Encoding, EncodingLookup
from recollect.streams.ledger import Ledger
from recollect.streams.projecting.projector import project_events
from recollect.streams.records.chain_readers import (
    ChangeReader,
    EventReader,
    UnsealedEvent,
    erased_by,
    open_sections,
)

_BATCH_SIZE = 500
_SCRATCH = "erasing"

Key = tuple[str | int, ...]


def erase(
    ledger: Ledger,
    zone: str,
    chain: str,
    files: ZoneFiles,
    gateway: EncoderGateway,
    record: UnsealedEvent,
    targets: Sequence[int],
    agents: Sequence[Agent],
) -> tuple[Decision, tuple[Source, ...]]:
    """Return the decision of an erasure, and the events that it erases.

    `files` must be locked and have applied every earlier record, and the change records of these
    must be in the topic.
    """
    number = record.source.number
    erased = erased_by(ledger, zone, number, targets)
    if not erased:
        return Decision([]), ()
    recorded = files.embeddings.connection
    replaying = gateway.replaying(
        _recorded_in(recorded, gateway.model), partial(annotations_of_event, recorded)
    )
    excluded = frozenset(source.number for source in erased)
    parked = parked_records(files)
    if is_traced(files.memory.connection, number - 1):
        remaining = _remaining_events(ledger, files, erased)
        with (
            Redecision(
                ledger, zone, chain, files, replaying, number - 1, remaining, parked, agents
            ) as redecision,
            suppress(DependenciesUnknown),
        ):
            # If another chain has already destroyed keys of the erased events, dependencies are
            # unknown, and the target is derived in full below.
            return Decision(redecision.run()), erased
    target = _Target(ledger, zone, number - 1, excluded, parked, agents)
    return Decision(_full_difference(ledger, zone, chain, files, replaying, target)), erased


def _remaining_events(ledger: Ledger, files: ZoneFiles, erased: Sequence[Source]) -> frozenset[int]:
    """Return the erased events that may still have rows: those not erased earlier."""
    keys = ledger.keys.get([source.key_id for source in erased])
    return frozenset(
        source.number
        for source in erased
        if source.key_id in keys
        or files.memory.row(DecisionDependencies, (source.number,)) is not None
    )


def _full_difference(
    ledger: Ledger,
    zone: str,
    chain: str,
    files: ZoneFiles,
    gateway: EncoderGateway,
    target: _Target,
) -> list[DecidedPart]:
    """Derive the target in full, and return the difference from the live files to it."""
    upto, excluded = target.upto, target.excluded
    clear_scratch(files)
    directory = files.directory / _SCRATCH
    try:
        with ZoneFiles(directory, gateway.model, gateway.dimension) as scratch:
            row_sources = RowSources(directory)
            try:
                target.derive(scratch, gateway, row_sources)
                affected, complete = _affected_rows(ledger, zone, chain, upto, excluded)
                if not complete:
                    affected |= _replica_differences(
                        ledger, zone, chain, upto, excluded, scratch, files
                    )
                parts = _parts(files, scratch, affected, row_sources, upto + 1)
            finally:
                row_sources.close()
    finally:
        clear_scratch(files)
    # The target's decisions are derived without their dependencies, so a later erasure must not use
    # any dependencies up to this record.
    return [*parts, DecidedPart((upto + 1,), puts=[DecisionDependencies(upto + 1, b"", b"", b"")])]


def clear_scratch(files: ZoneFiles) -> None:
    """Remove the scratch files of an erasure that was killed."""
    delete_directory(files.directory / _SCRATCH)


def parked_records(files: ZoneFiles) -> dict[int, str]:
    """Return the records that were ever parked, with their reasons.

    Records that could not be decoded when they were published are left out: events of kind `park`
    stand in for them.
    """
    connection = files.memory.connection
    letters: list[DeadLetter] = []
    for state in ("parked", "retried", "dropped"):
        letters += dead_letters(connection, state)
    return {letter.number: letter.reason for letter in letters if letter.kind != "park"}


class RowSources:
    """The sources of each row of the target, from the part that wrote it last."""

    def __init__(self, directory: Path) -> None:
        self._connection = connect(directory / "provenance.db")
        self._connection.execute(
            "CREATE TABLE provenance (name TEXT, key BLOB, sources BLOB, PRIMARY KEY (name, key)) "
            "WITHOUT ROWID"
        )

    def record(self, parts: Sequence[DecidedPart]) -> None:
        """Record the rows of decided parts."""
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT OR REPLACE INTO provenance VALUES (?, ?, ?)",
            (
                (row.TABLE, _encode(key_of(row)), _encode(part.sources))
                for part in parts
                for row in part.puts
            ),
        )
        self._connection.execute("COMMIT")

    def of(self, table: str, key: Key) -> tuple[int, ...]:
        """Return the sources of a row of the target."""
        ((sources_,),) = self._connection.execute(
            "SELECT sources FROM provenance WHERE name = ? AND key = ?", (table, _encode(key))
        )
        return tuple(msgspec.msgpack.decode(sources_))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


_encode = msgspec.msgpack.Encoder().encode


def key_of(row: Row) -> Key:
    """Return the values of a row's key columns."""
    return tuple(getattr(row, column) for column in row.KEY)


class _Target(NamedTuple):
    """The zone up to record `upto`, without the `excluded` events."""

    ledger: Ledger
    zone: str
    upto: int
    excluded: Set[int]
    parked: dict[int, str]
    agents: Sequence[Agent]

    def derive(self, scratch: ZoneFiles, gateway: EncoderGateway, row_sources: RowSources) -> None:
        """Derive the target into scratch files; `gateway` replays recorded encodings."""
        project_events(self.ledger, self.zone, scratch, upto=self.upto, excluded=self.excluded)
        decider = Decider(self.ledger, self.zone, scratch, gateway, self.agents)
        reader = EventReader(self.ledger, self.zone)
        with scratch.locked():
            while records := reader.read(
                min(_BATCH_SIZE, self.upto - reader.number), self.excluded
            ):
                extracts = decider.extract(records, parked=self.parked)
                for record, extracted in zip(records, extracts, strict=True):
                    if record.kind == "forget":
                        # The events that it erases are already unreadable in the target.
                        continue
                    if record.source.number in self.parked and (record.event or record.problem):
                        decision = decider.park(record, self.parked[record.source.number])
                    else:
                        decision = decider.resolve(record, extracted)
                    decider.project(decision.parts)
                    row_sources.record(decision.parts)
            for model in scratch.decided:
                model.connection.execute("COMMIT")


def _recorded_in(connection: apsw.Connection, model: str | None) -> EncodingLookup:
    """Return a function that looks up the recorded encoding of a text by its hash."""

    def look_up(key: str) -> Encoding | None:
        if model is None or (vector := vector_of_text(connection, model, key)) is None:
            return None
        return Encoding(vector, tokens_of_text(connection, model, key))

    return look_up


def _affected_rows(
    ledger: Ledger, zone: str, chain: str, upto: int, excluded: Set[int]
) -> tuple[set[tuple[str, Key]], bool]:
    """Return the rows of every part with an erased source, and whether all could be unsealed.

    On a lagging chain, such as the chain of a kept generation, keys may be missing because another
    chain has destroyed them already.
    """
    affected: set[tuple[str, Key]] = set()
    complete = True
    reader = ChangeReader(ledger, zone, chain)
    while reader.number < upto and (changes := reader.read(_BATCH_SIZE)):
        with_erased_source = [
            change._replace(
                record=msgspec.structs.replace(
                    change.record,
                    parts=tuple(
                        part
                        for part in change.record.parts
                        if any(source.number in excluded for source in part.sources)
                    ),
                )
            )
            for change in changes
        ]
        needed = {
            source.key_id
            for change in with_erased_source
            for part in change.record.parts
            for source in part.sources
        }
        complete &= len(ledger.keys.get(list(needed))) == len(needed)
        for sections in open_sections(
            ledger.keys, with_erased_source, tuple(READ_MODEL_ROWS)
        ).values():
            for section in sections:
                affected.update((row.TABLE, key_of(row)) for row in section.puts)
                affected.update((delete.table, delete.key) for delete in section.deletes)
    return affected, complete


def _replica_differences(
    ledger: Ledger,
    zone: str,
    chain: str,
    upto: int,
    excluded: Set[int],
    target: ZoneFiles,
    live: ZoneFiles,
) -> set[tuple[str, Key]]:
    """Create a lagging replica, and return the rows in which it differs from the target.

    Dependency rows that only the live files have are included.
    """
    directory = target.directory / "replica"
    with ZoneFiles(directory, target.embeddings.model, target.embeddings.dimension) as replica:
        with replica.locked():
            reader = ChangeReader(ledger, zone, chain)
            while reader.number < upto and (changes := reader.read(_BATCH_SIZE)):
                sections = open_sections(ledger.keys, changes, tuple(READ_MODEL_ROWS), excluded)
                for model in replica.decided:
                    model.project(sections[model.name])
            for model in replica.decided:
                model.connection.execute("COMMIT")
        traced = _table_differences(live.memory, replica.memory, DecisionDependencies)
        return {
            *((table, key) for table, key, _, _ in differences(replica, target)),
            *((table, key) for table, key, ours, _ in traced if ours is not None),
        }


def _parts(
    live: ZoneFiles,
    target: ZoneFiles,
    affected: set[tuple[str, Key]],
    row_sources: RowSources,
    number: int,
) -> list[DecidedPart]:
    """Return the difference from live to target, grouped by the sources of its rows."""
    parts: dict[tuple[int, ...], DecidedPart] = {}
    own_part = parts.setdefault((number,), DecidedPart((number,)))

    def put(row: AnyRow) -> None:
        sources = row_sources.of(row.TABLE, key_of(row))
        parts.setdefault(sources, DecidedPart(sources)).puts.append(row)

    written: set[tuple[str, Key]] = set()
    for table, key, _, target_row in differences(live, target):
        written.add((table, key))
        if target_row is None:
            own_part.deletes.append(Delete(table, key))
        else:
            put(target_row)
    by_table = {row.TABLE: (model, row) for model, rows in READ_MODEL_ROWS.items() for row in rows}
    for table, key in sorted(affected - written, key=repr):
        model, kind = by_table[table]
        target_row = cast(AnyRow | None, _model(target, model).row(kind, key))
        if target_row is None:
            own_part.deletes.append(Delete(table, key))
        else:
            put(target_row)
    # Deletes come first, because an old row may hold a unique value that a new row needs.
    return [part for part in parts.values() if part.puts or part.deletes]


def differences(
    left: ZoneFiles, right: ZoneFiles
) -> Iterator[tuple[str, Key, AnyRow | None, AnyRow | None]]:
    """Yield (table, key, row in left, row in right) for every row in which two states differ.

    Dependency rows (`DecisionDependencies`) are left out.
    """
    for model, rows in READ_MODEL_ROWS.items():
        for kind in rows:
            if kind is DecisionDependencies:
                continue
            yield from _table_differences(_model(left, model), _model(right, model), kind)


def _table_differences(
    left: ReadModel, right: ReadModel, kind: type[Row]
) -> Iterator[tuple[str, Key, AnyRow | None, AnyRow | None]]:
    columns = kind.__struct_fields__
    key_at = [columns.index(column) for column in kind.KEY]
    left_rows, right_rows = rows_by_key(left.connection, kind), rows_by_key(right.connection, kind)
    one, other = left_rows.fetchone(), right_rows.fetchone()
    while one is not None or other is not None:
        key = tuple(one[at] for at in key_at) if one is not None else None
        other_key = tuple(other[at] for at in key_at) if other is not None else None
        if other_key is None or (key is not None and _order(key) < _order(other_key)):
            yield kind.TABLE, key, kind(*one), None  # type: ignore[misc]
            one = left_rows.fetchone()
        elif key is None or _order(other_key) < _order(key):
            yield kind.TABLE, other_key, None, kind(*other)  # type: ignore[misc]
            other = right_rows.fetchone()
        else:
            if one != other:
                yield kind.TABLE, key, kind(*one), kind(*other)  # type: ignore[misc]
            one, other = left_rows.fetchone(), right_rows.fetchone()


def _order(key: Sequence[Any]) -> tuple[Any, ...]:
    """Return a sort key like SQLite's BINARY collation: text by its UTF-8 bytes."""
    return tuple(part.encode() if isinstance(part, str) else part for part in key)


def _model(files: ZoneFiles, name: str) -> ReadModel:
    return next(model for model in files.decided if model.name == name)
