"""Deciding again what rested on erased records, and nothing else.

An erased decision is taken back, and every decision that may come out otherwise without it is
made again, in the ledger's order: those that read the erased record, and those that asked the
state under a key where the live zone and the target, the zone as it would be without the erased
records, differ at that moment. Where a decision comes out as before, or a key holds on both sides
the same again, nothing more follows. What is asked is found in files in memory, into which the
rows of a key are brought from the decisions that wrote them when the key is first asked for; so
each decision sees the target as it was after the record before it.

`erasing` derives a target in full where this cannot be done; both give the same rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence, Set
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
    Row,
    Section,
)
from recollect.streams.agents import Agent
from recollect.streams.agents.state import key_of_event, touched
from recollect.streams.deciding.decider import Decider, Decision
from recollect.streams.deciding.tracing import Decisions, Part, RowKey, parts_of, seen_under, traced
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.ledger import Ledger
from recollect.streams.reading.readers import event_at

Seen = dict[RowKey, object]


class Asked(NamedTuple):
    """The files that a decision is made from: the raw turns, and files in memory for the rest."""

    events: ReadModel
    memory: ReadModel
    identity: ReadModel

    @property
    def decided(self) -> tuple[ReadModel, ...]:
        """The files in memory, into which rows are copied by key."""
        return self.memory, self.identity


class Redecision:
    """The decisions of a zone that change when some records are erased.

    `live` are the files as they stand at record `upto`; `parked` are the records that were
    parked, with their reasons.
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
        self._decisions = Decisions(ledger, zone, chain, live.memory.connection, upto)
        self._made: dict[int, Decision] = {}
        self._parts: dict[int, list[Part]] = {}
        # Keys under which decisions that were made again write, and did not before.
        self._written: dict[bytes, set[int]] = {}
        # What stands under keys where live and target differ, on each side.
        self._differing: dict[bytes, tuple[Seen, Seen]] = {}
        self._of_erased = {key_of_event(number) for number in erased}
        self._pending: list[int] = []
        self._brought: dict[bytes, int] = {}
        self._at = 0
        with ExitStack() as opened:
            memory, identity = MemoryModel(None), IdentityModel(None)
            opened.callback(memory.close)
            opened.callback(identity.close)
            self._asked = Asked(live.events, memory, identity)
            self._opened = opened.pop_all()
        self._decider = Decider(ledger, zone, self._asked, gateway, agents, self._bring)

    def __enter__(self) -> Redecision:
        return self

    def __exit__(self, *exception: object) -> None:
        self._opened.close()

    def run(self) -> list[DecidedPart]:
        """Return the difference from live to target, by the sources of its rows.

        Raises:
            Untraceable: a decision that is needed cannot be opened.
        """
        self._pending = sorted(number for number in self._erased if number <= self._upto)
        for key in self._of_erased:
            self._follow(key, 0)
        before = 0
        while self._pending:
            number = heapq.heappop(self._pending)
            if before < number <= self._upto:
                before = number
                self._pass(number)
        return self._difference()

    # Forward through the decisions

    def _pass(self, number: int) -> None:
        """Remove one decision, make it again or keep it, and follow what differs after it."""
        self._at = number
        reads = self._decisions.reads(number)
        again = not self._of_erased.isdisjoint(reads) or not self._differing.keys().isdisjoint(
            reads
        )
        erased = number in self._erased
        if not (erased or again) and self._differing.keys().isdisjoint(
            self._decisions.writes(number)
        ):
            return
        old = new = self._old_rows(number)
        if erased:
            self._parts[number] = []
            new = []
        elif again:
            new = self._decide(number)
        ours, theirs = seen_under(old), seen_under(new)
        for key in ours.keys() | theirs.keys():
            self._compare(key, ours.get(key, {}), theirs.get(key, {}), changed=new is not old)
        for key in reads | ours.keys() | theirs.keys():
            if key in self._differing or key in self._of_erased:
                self._follow(key, number)

    def _compare(self, key: bytes, ours: Seen, theirs: Seen, *, changed: bool) -> None:
        """Note whether both sides differ under a key after a decision."""
        if key not in self._differing:
            if not changed or ours == theirs:
                return
            there = self._seen_before(key)
            self._differing[key] = (dict(there), dict(there))
        live, target = self._differing[key]
        live.update(ours)
        target.update(theirs)
        if live == target:
            del self._differing[key]

    def _follow(self, key: bytes, after: int) -> None:
        """Queue the next decision that asked under a key, and the next that wrote under it."""
        for numbers in (self._decisions.readers(key), self._decisions.writers(key)):
            place = int(numbers.searchsorted(after, "right"))
            if place < len(numbers):
                heapq.heappush(self._pending, int(numbers[place]))

    def _decide(self, number: int) -> list[AnyRow]:
        """Make a decision again, in the target's state before it."""
        record = event_at(self._ledger, self._zone, number, self._erased)
        assert record is not None
        if number in self._parked and (record.event or record.problem):
            decision = self._decider.park(record, self._parked[number])
        else:
            (extracted,) = self._decider.extract([record], self._erased)
            decision = self._decider.resolve(record, extracted)
        self._made[number] = decision
        self._parts[number] = parts_of(decision.parts)
        rows = [row for part in decision.parts for row in part.puts]
        for row in rows:
            for key, _ in touched(row):
                self._written.setdefault(key, set()).add(number)
        return rows

    # What is found where

    def _target(self, number: int) -> list[Part]:
        """Return the rows of a decision in the target."""
        if number in self._parts:
            return self._parts[number]
        return self._decisions.parts(number)

    def _old_rows(self, number: int) -> list[AnyRow]:
        return [row for part in self._decisions.parts(number) for row in part.rows]

    def _writers(self, key: bytes, first: int, end: int) -> list[int]:
        """Return the decisions from `first` to before `end` that write under a key, in order."""
        before = self._decisions.writers(key)
        low, high = before.searchsorted(first), before.searchsorted(end)
        numbers = {int(number) for number in before[low:high]}
        numbers |= {number for number in self._written.get(key, ()) if first <= number < end}
        return sorted(numbers)

    def _under(self, key: bytes, number: int) -> Iterator[tuple[AnyRow, tuple[int, ...]]]:
        """Yield the rows that a decision of the target has under a key, with their sources."""
        for part in self._target(number):
            for row in part.rows:
                if any(each == key for each, _ in touched(row)):
                    yield row, part.sources

    def _seen_before(self, key: bytes) -> Seen:
        """Return what stands under a key before the current decision, the same on both sides."""
        seen: Seen = {}
        for number in self._writers(key, 0, self._at):
            rows = [row for row, _ in self._under(key, number)]
            seen |= seen_under(rows).get(key, {})
        return seen

    def _bring(self, key: bytes) -> None:
        """Copy what the target has under a key, before the current decision, into memory."""
        rows: dict[ReadModel, list[AnyRow]] = {}
        for number in self._writers(key, self._brought.get(key, 0), self._at):
            for row, _ in self._under(key, number):
                name = READ_MODEL_OF_ROW[type(row)]
                model = self._asked.memory if name == "memory" else self._asked.identity
                rows.setdefault(model, []).append(row)
        for model, found in rows.items():
            model.project([Section((), tuple(found))])
        self._brought[key] = self._at

    # The difference

    def _difference(self) -> list[DecidedPart]:
        own = DecidedPart((self._upto + 1,))
        parts = {own.sources: own}

        def put(row: AnyRow, sources: tuple[int, ...]) -> None:
            parts.setdefault(sources, DecidedPart(sources)).puts.append(row)

        suspects: set[RowKey] = set()
        made: dict[RowKey, tuple[AnyRow, tuple[int, ...]]] = {}
        # The first key under which a row is found; None: no decision asks for it.
        places: dict[RowKey, bytes | None] = {}
        for number in sorted(self._parts):
            for part in self._decisions.parts(number):
                places |= dict.fromkeys(part.named)
                places |= {row_key(row): _place(row) for row in part.rows}
                if not self._erased.isdisjoint(part.sources):
                    suspects.update(part.keys())
            for part in self._parts[number]:
                made |= {row_key(row): (row, part.sources) for row in part.rows}
                places |= {row_key(row): _place(row) for row in part.rows}
        for key, place in places.items():
            last = self._last(key, place) or made.get(key)
            if last is None:
                own.deletes.append(Delete(*key))
            elif key in suspects or last[0] != self._standing(key):
                put(*last)
        for number in sorted(self._parts):
            if number in self._erased:
                own.deletes.append(Delete(DecisionDependencies.TABLE, (number,)))
            elif (row := self._restated(number)) is not None:
                put(*row)
        # Deletes come first: an old row may have a unique value of a new one.
        return [part for part in parts.values() if part.puts or part.deletes]

    def _last(self, key: RowKey, place: bytes | None) -> tuple[AnyRow, tuple[int, ...]] | None:
        """Return a row as the last of several decisions of the target wrote it, with its sources.

        None: none wrote it, or no decision asks for such rows, each of which is written once.
        """
        if place is None:
            return None
        for number in reversed(self._writers(place, 0, self._upto + 1)):
            found = [each for each in self._under(place, number) if row_key(each[0]) == key]
            if found:
                return found[-1]
        return None

    def _standing(self, key: RowKey) -> Row | None:
        """Return a row as it stands in the live files."""
        table, values = key
        name = READ_MODEL_OF_TABLE[table]
        (model,) = (each for each in self._live.decided if each.name == name)
        return model.row(ROW_OF_TABLE[table], values)

    def _restated(self, number: int) -> tuple[AnyRow, tuple[int, ...]] | None:
        """Return the row that says what a decision is from now on, with its sources; None where
        its change record still does."""
        before, decision = self._decisions.parts(number), self._made[number]
        if _same(before, self._parts[number]) and self._decisions.reads(number) == decision.reads:
            return None
        with_row = traced(number, decision, restated=True).parts
        for part in with_row:
            for row in part.puts:
                if isinstance(row, DecisionDependencies):
                    return row, part.sources
        return None


def _same(before: Sequence[Part], after: Sequence[Part]) -> bool:
    """Return whether a decision comes out as before, out of the same sources.

    What nobody asks for is compared by its keys, and with the files row by row.
    """

    def said(parts: Sequence[Part]) -> set[tuple[tuple[int, ...], RowKey, AnyRow | None]]:
        return {
            *(
                (part.sources, row_key(row), row if _place(row) else None)
                for part in parts
                for row in part.rows
            ),
            *((part.sources, key, None) for part in parts for key in part.named),
        }

    return said(before) == said(after)


def _place(row: AnyRow) -> bytes | None:
    """Return the first key under which a row is found, which follows from its own key."""
    found = touched(row)
    return found[0][0] if found else None
