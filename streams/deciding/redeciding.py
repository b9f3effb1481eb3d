"""Repeat the decisions that depended on erased records, and no others.

The target is the zone as it would be without the erased records. The decisions on these records are
removed. Every other decision that may change is repeated, in ledger order: those that read an
erased record, and those that looked up a key under which the live zone and the target have
different rows at that point.
Propagation stops where a decision or the rows of a key are unchanged. Only rows that differ are
followed, so a key with many rows, such as the key of a thread, costs no more than one with few. The
queried state is in memory: when a key is first read, its rows are materialised from the decisions
that wrote them, so each decision sees the target as it was just before its record.

If dependencies are unknown, `erasing` derives the target in full, which gives the same rows.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import ExitStack
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.projections.readmodel import ReadModel, row_key
from recollect.schemas.changes import (
    READ_MODEL_OF_ROW,
    READ_MODEL_OF_TABLE,
    ROW_OF_TABLE,
    AnyRow,
    DecidedPart,
    DecisionDependencies,
    Delete,
    Merge,
    Row,
    Section,
)
from recollect.streams.agents import Agent
from recollect.streams.agents.state import (
    EntityMerge,
    WriterSearch,
    key_of_entity,
    key_of_event,
    key_of_search,
    keys_of_row,
    search_for_writers,
)
from recollect.streams.deciding.decider import Decider, Decision
from recollect.streams.deciding.dependencies import (
    DecisionRows,
    DependencyIndex,
    RecordedPart,
    RowKey,
    parts_of,
    results_by_lookup_key,
    rows_of,
    with_dependencies,
)
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.ledger import Ledger
from recollect.streams.records.chain_readers import event_at

#: The rows that a decision writes under a key, with the values that queries by it return.
KeyView = dict[RowKey, object]

_ABSENT = object()


class DecisionInputs(NamedTuple):
    """The files that a decision queries: live raw turns, and the target's rows in memory."""

    events: ReadModel
    memory: ReadModel
    identity: ReadModel

    @property
    def decided(self) -> tuple[ReadModel, ...]:
        """The in-memory files, where rows are materialised by key."""
        return self.memory, self.identity


class Redecision:
    """The decisions of a zone that change when some records are erased.

    `live`: the files as of record `upto`. `parked`: the records that were parked, with their
    reasons.
    """

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        chain: str,
        live: ZoneFiles,
        gateway: EncoderGateway,
        upto: int,
        erased: Set[int],
        parked: Mapping[int, str],
        agents: Sequence[Agent],
    ) -> None:
        self._ledger = ledger
        self._zone = zone
        self._live = live
        self._upto = upto
        self._erased = erased
        self._parked = parked
        self._decisions = DependencyIndex(ledger, zone, chain, live.memory.connection, upto)
        self._redecided: dict[int, Decision] = {}
        self._parts: dict[int, list[RecordedPart]] = {}
        # Key -> the repeated decisions that write under it.
        self._written: dict[bytes, set[int]] = {}
        # For each key with rows that differ, their values in the live zone and in the target.
        self._differing: dict[bytes, dict[RowKey, tuple[object, object]]] = {}
        # The rows of the decisions that were repeated or removed, in the target.
        self._rows: dict[int, DecisionRows] = {}
        # The rows of decisions before the current one, in the target, by key.
        self._rows_by_key: dict[int, dict[bytes, list[AnyRow]]] = {}
        self._erased_keys = {key_of_event(number) for number in erased}
        self._pending: list[int] = []
        self._materialised_to: dict[bytes, int] = {}
        # Loser -> the decisions that may write its merges, and whether it has the same merge.
        self._same_merges: dict[str, tuple[Sequence[int], bool]] = {}
        self._current_number = 0
        with ExitStack() as opened:
            memory, identity = MemoryModel(None), IdentityModel(None)
            opened.callback(memory.close)
            opened.callback(identity.close)
            self._inputs = DecisionInputs(live.events, memory, identity)
            self._opened = opened.pop_all()
        self._decider = Decider(ledger, zone, self._inputs, gateway, agents, self._materialise)

    def __enter__(self) -> Redecision:
        return self

    def __exit__(self, *exception: object) -> None:
        self._opened.close()

    def run(self) -> list[DecidedPart]:
        """Return the difference from live to target, grouped by the sources of its rows.

        Raises:
            DependenciesUnknown: a decision that has to be read cannot be unsealed.
        """
        self._pending = sorted(number for number in self._erased if number <= self._upto)
        for key in self._erased_keys:
            self._enqueue_reader(key, 0)
        last = 0
        while self._pending:
            number = heapq.heappop(self._pending)
            if last < number <= self._upto:
                last = number
                self._revisit(number)
        return self._difference()

    # Propagation, forward through the decisions

    def _revisit(self, number: int) -> None:
        """Remove, repeat or keep a decision, and queue the decisions that this affects.

        A decision that is kept may remove a difference: it writes the same row to live and target.
        """
        self._current_number = number
        reads = self._decisions.reads(number)
        is_erased = number in self._erased
        has_changed_read = not self._erased_keys.isdisjoint(reads) or any(
            self._is_changed(key, reads) for key in reads & self._differing.keys()
        )
        old: list[AnyRow] = []
        if (
            is_erased
            or has_changed_read
            or not self._differing.keys().isdisjoint(self._decisions.writes(number))
        ):
            old = self._old_rows(number)
        new = old
        if is_erased:
            self._parts[number], self._rows[number] = [], {}
            new = []
        elif has_changed_read:
            new = self._decide(number)
        old_views, new_views = results_by_lookup_key(old), results_by_lookup_key(new)
        searches = {row_key(row): search_for_writers(row) for row in (*old, *new)}
        for key in old_views.keys() | new_views.keys():
            self._compare(key, old_views.get(key, {}), new_views.get(key, {}), searches)
        for key in reads | old_views.keys() | new_views.keys():
            if key in self._differing or key in self._erased_keys:
                self._enqueue_reader(key, number)

    def _is_changed(self, key: bytes, reads: Set[bytes]) -> bool:
        """Return whether a decision with these reads may depend on how a key's rows differ.

        If the decision only searched the key, it depends on what was removed through other keys.
        """
        if self._only_merges_moved(key):
            return False
        return key_of_search(key) not in reads or any(
            target is not _ABSENT for _, target in self._differing[key].values()
        )

    def _only_merges_moved(self, key: bytes) -> bool:
        """Return whether only ids and times of merges differ under a key, which no query returns.

        This holds under the keys of the merged entities. The time orders the merges of an entity,
        so it must have one merge before the current decision, in the live zone and in the target.
        """
        values = [
            value
            for each in self._differing[key].values()
            for value in each
            if value is not _ABSENT
        ]
        return all(
            isinstance(value, EntityMerge) and self._has_same_merge(value.loser_id)
            for value in values
        )

    def _has_same_merge(self, entity_id: str) -> bool:
        """Return whether an entity has one merge in live and target, into the same winner.

        Merges that were undone count.
        """
        numbers = self._writers(key_of_entity(entity_id), 0, self._current_number)
        known = self._same_merges.get(entity_id)
        if known is None or known[0] != numbers:
            live, target = (
                [
                    row.winner_id
                    for number in numbers
                    for row, _ in rows_of_decision(number).values()
                    if isinstance(row, Merge) and row.loser_id == entity_id
                ]
                for rows_of_decision in (self._decisions.rows, self._rows_of)
            )
            known = self._same_merges[entity_id] = numbers, len(live) == 1 and live == target
        return known[1]

    def _compare(
        self,
        key: bytes,
        old_view: KeyView,
        new_view: KeyView,
        searches: Mapping[RowKey, WriterSearch | None],
    ) -> None:
        """Record which rows differ between live and target under a key after the current decision.

        Queue the decisions that may write these rows again.
        """
        differing = self._differing.setdefault(key, {})
        for row in old_view.keys() | new_view.keys():
            search = searches[row]
            assert search is not None
            if row in differing:
                live, target = differing[row]
            elif row in old_view and row in new_view:
                live = target = _ABSENT
            else:
                live = target = self._value_before(key, row, search)
            live, target = old_view.get(row, live), new_view.get(row, target)
            if live == target:
                differing.pop(row, None)
                continue
            if row not in differing:
                self._enqueue(self._writers_of_row(search, self._current_number + 1))
            differing[row] = live, target
        if not differing:
            del self._differing[key]

    def _enqueue(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            heapq.heappush(self._pending, number)

    def _enqueue_reader(self, key: bytes, after: int) -> None:
        """Queue the next decision that read a key."""
        numbers = self._decisions.readers(key)
        at = bisect_right(numbers, after)
        self._enqueue(numbers[at : at + 1])

    def _decide(self, number: int) -> list[AnyRow]:
        """Repeat a decision with the target's state before it; return its new rows."""
        record = event_at(self._ledger, self._zone, number, self._erased)
        assert record is not None
        if number in self._parked and (record.event or record.problem):
            decision = self._decider.park(record, self._parked[number])
        else:
            (extracted,) = self._decider.extract([record], self._erased)
            decision = self._decider.resolve(record, extracted)
        self._redecided[number] = decision
        self._parts[number] = parts_of(decision.parts)
        self._rows[number] = rows_of(self._parts[number])
        rows = [row for part in decision.parts for row in part.puts]
        for row in rows:
            for key, _ in keys_of_row(row):
                self._written.setdefault(key, set()).add(number)
        return rows

    # Rows by decision and by key

    def _old_rows(self, number: int) -> list[AnyRow]:
        return [row for part in self._decisions.parts(number) for row in part.rows]

    def _rows_of(self, number: int) -> DecisionRows:
        """Return the rows that a decision of the target writes."""
        return self._rows[number] if number in self._rows else self._decisions.rows(number)

    def _rows_under(self, key: bytes, number: int) -> Sequence[AnyRow]:
        """Return the rows that a decision before the current one writes under a key."""
        if number not in self._rows_by_key:
            by_key: dict[bytes, list[AnyRow]] = {}
            for row, _ in self._rows_of(number).values():
                for each in {each for each, _ in keys_of_row(row)}:
                    by_key.setdefault(each, []).append(row)
            self._rows_by_key[number] = by_key
        return self._rows_by_key[number].get(key, ())

    def _writers(self, key: bytes, first: int, end: int) -> Sequence[int]:
        """Return the decisions from `first` to before `end` that write a key, in order."""
        return self._with_written(self._decisions.writers(key), key, first, end)

    def _writers_of_row(
        self, search: WriterSearch, first: int = 0, end: int | None = None
    ) -> Sequence[int]:
        """Return the decisions from `first` to before `end` that may write a row, in order."""
        recorded = self._decisions.writers_of_row(search)
        return self._with_written(
            recorded, search.key, first, self._upto + 1 if end is None else end
        )

    def _with_written(
        self, recorded: Sequence[int], key: bytes, first: int, end: int
    ) -> Sequence[int]:
        """Return recorded writers of a key, and those repeated decisions that write it now."""
        numbers = recorded[bisect_left(recorded, first) : bisect_left(recorded, end)]
        written = {number for number in self._written.get(key, ()) if first <= number < end}
        return sorted(written.union(numbers)) if written else numbers

    def _value_before(self, key: bytes, row: RowKey, search: WriterSearch) -> object:
        """Return a row's value under a key before the current decision, if live and target agree.

        `_ABSENT` if no decision wrote it.
        """
        for number in reversed(self._writers_of_row(search, end=self._current_number)):
            found = self._rows_of(number).get(row)
            if found is not None and key in (values := dict(keys_of_row(found[0]))):
                return values[key]
        return _ABSENT

    def _materialise(self, key: bytes) -> None:
        """Copy the target's rows under a key, as of before the current decision, into memory."""
        rows: dict[ReadModel, list[AnyRow]] = {}
        for number in self._writers(key, self._materialised_to.get(key, 0), self._current_number):
            for row in self._rows_under(key, number):
                name = READ_MODEL_OF_ROW[type(row)]
                model = self._inputs.memory if name == "memory" else self._inputs.identity
                rows.setdefault(model, []).append(row)
        for model, found in rows.items():
            model.project([Section((), tuple(found))])
        self._materialised_to[key] = self._current_number

    # The difference

    def _difference(self) -> list[DecidedPart]:
        erasure_part = DecidedPart((self._upto + 1,))
        parts = {erasure_part.sources: erasure_part}

        def put(row: AnyRow, sources: tuple[int, ...]) -> None:
            parts.setdefault(sources, DecidedPart(sources)).puts.append(row)

        affected: set[RowKey] = set()
        repeated: dict[RowKey, tuple[AnyRow, tuple[int, ...]]] = {}
        # How to find the writers of each row; None if no decision queries the row.
        searches: dict[RowKey, WriterSearch | None] = {}
        for number in sorted(self._parts):
            old_rows, new_rows = self._decisions.rows(number), self._rows[number]
            repeated |= new_rows
            # What every decision writes as before is the same in the live files.
            same = {key for key, written in new_rows.items() if old_rows.get(key) == written}
            for part in self._decisions.parts(number):
                searches |= dict.fromkeys(part.unqueried)
                if not self._erased.isdisjoint(part.sources):
                    affected.update(part.keys())
            for key, written in (old_rows | new_rows).items():
                if key in affected or key not in same:
                    searches[key] = search_for_writers(written[0])
        for key, search in searches.items():
            last = self._last_written(key, search) or repeated.get(key)
            if last is None:
                erasure_part.deletes.append(Delete(*key))
            elif (
                key in affected
                or last[0] != self._live_row(key)
                # The same row may now come from other events; sealed with the keys of the former
                # ones, it would be lost with them.
                or (search is not None and last[1] != self._live_sources(key, search))
            ):
                put(*last)
        for number in sorted(self._parts):
            if number in self._erased:
                erasure_part.deletes.append(Delete(DecisionDependencies.TABLE, (number,)))
            elif (row := self._replacement_row(number)) is not None:
                put(*row)
        # Deletes come first, because an old row may hold a unique value that a new row needs.
        return [part for part in parts.values() if part.puts or part.deletes]

    def _last_written(
        self, key: RowKey, search: WriterSearch | None
    ) -> tuple[AnyRow, tuple[int, ...]] | None:
        """Return a row as a decision of the target last wrote it, with its sources.

        None if no decision wrote it. Also None if no decision queries the row: such a row is
        written only once, so no later version can exist.
        """
        if search is None:
            return None
        numbers = reversed(self._writers_of_row(search))
        return next((found for n in numbers if (found := self._rows_of(n).get(key))), None)

    def _live_sources(self, key: RowKey, search: WriterSearch) -> tuple[int, ...] | None:
        """Return the sources of a row of the live files, from the decision that wrote it last."""
        for number in reversed(self._decisions.writers_of_row(search)):
            if (found := self._decisions.rows(number).get(key)) is not None:
                return found[1]
        return None

    def _live_row(self, key: RowKey) -> Row | None:
        """Return a row of the live files."""
        table, values = key
        name = READ_MODEL_OF_TABLE[table]
        (model,) = (each for each in self._live.decided if each.name == name)
        return model.row(ROW_OF_TABLE[table], values)

    def _replacement_row(self, number: int) -> tuple[AnyRow, tuple[int, ...]] | None:
        """Return the row that replaces a decision's change record, with the row's sources.

        None if the change record still applies.
        """
        old_parts, decision = self._decisions.parts(number), self._redecided[number]
        same_reads = self._decisions.reads(number) == decision.reads
        if same_reads and _has_same_rows(old_parts, self._parts[number]):
            return None
        with_row = with_dependencies(number, decision, restated=True).parts
        for part in with_row:
            for row in part.puts:
                if isinstance(row, DecisionDependencies):
                    return row, part.sources
        return None


def _has_same_rows(before: Sequence[RecordedPart], after: Sequence[RecordedPart]) -> bool:
    """Return whether a decision has the same rows with the same sources.

    Rows that no decision queries are compared by key only: `_difference` compares their values with
    the live files.
    """

    def content(
        parts: Sequence[RecordedPart],
    ) -> set[tuple[tuple[int, ...], RowKey, AnyRow | None]]:
        return {
            *(
                (part.sources, row_key(row), row if keys_of_row(row) else None)
                for part in parts
                for row in part.rows
            ),
            *((part.sources, key, None) for part in parts for key in part.unqueried),
        }

    return content(before) == content(after)
