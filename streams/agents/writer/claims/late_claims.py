"""Late claims: what was said after a claim ends it, even if the claim arrives later (G8).

A message that changes when claims hold, such as an older one that arrives late, may change what the
sentences said after it end. These are decided again, in the order of their times. For a message
that arrives in order there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from heapq import heappop, heappush
from typing import NamedTuple

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.changes import (
    AnyRow,
    FactClaim,
    FactSupersession,
    StatedEnding,
    WithdrawnSupersession,
)
from recollect.schemas.ids import time_of
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.state import State
from recollect.streams.agents.writer.claims.claim_ends import (
    EndedValues,
    Lookup,
    SaidEnding,
    ending_of_rows,
)
from recollect.streams.agents.writer.claims.claim_order import Subjects, incompatible_claims
from recollect.streams.agents.writer.claims.statement_ends import ends_earlier
from recollect.streams.agents.writer.pending_rows import PendingRows, place_of_ending


class ChangedClaim(NamedTuple):
    """A claim that is new, or that holds until another time than before.

    `subjects`: the keys of its subject. It holds between `since` and `until` (unix ms) and did not
    before, or the other way round; `is_new`: it did not hold at all before.
    """

    claim: FactClaim
    subjects: Sequence[str]
    since: int
    until: int
    is_new: bool = False


class _Change(NamedTuple):
    """A claim whose end has changed; `rows` have the new one."""

    claim: ChangedClaim
    rows: tuple[FactSupersession | WithdrawnSupersession, ...]


def claims_of_rows(
    rows: Sequence[AnyRow], subjects: Sequence[str], state: State
) -> Iterable[ChangedClaim]:
    """Yield the new claims of some rows, and those that they supersede.

    `subjects`: the keys of the subject of the new claims.
    """
    ends = {row.fact_id: row for row in rows if isinstance(row, FactSupersession)}
    for row in rows:
        if isinstance(row, FactClaim):
            end = ends.pop(row.fact_id, None)
            until = LATEST_MS if end is None else end.invalid_at
            # What is announced may be called off before it begins.
            since = min(row.as_of, time_of(row.fact_id))
            yield ChangedClaim(row, subjects, since, until, is_new=True)
    yield from changed_claims(ends.values(), state)


def changed_claims(
    rows: Iterable[FactSupersession | WithdrawnSupersession], state: State
) -> Iterable[ChangedClaim]:
    """Yield the stored claims of which some rows change the end."""
    for row in rows:
        claim = state.claim_of(row.fact_id)
        if claim is not None:
            before = state.supersessions([row.fact_id]).get(row.fact_id)
            now = row.invalid_at if isinstance(row, FactSupersession) else LATEST_MS
            since, until = sorted((now, LATEST_MS if before is None else before[1]))
            yield ChangedClaim(claim, (claim.subject,), since, until)


def begun_earlier(
    fact: str, at: int, subjects: Subjects | None, state: State, pending: PendingRows
) -> Iterable[ChangedClaim]:
    """Yield the claim of a fact if a message that arrived late states it earlier, at `at`."""
    if subjects is not None and time_of(fact) > at and (claim := state.claim_of(fact)) is not None:
        begun = min(pending.stated_times(fact, claim.as_of, state), default=claim.as_of)
        if begun > at:
            yield ChangedClaim(claim, subjects.own, at, begun)


def later_ends(
    changed: Iterable[ChangedClaim], state: State, pending: PendingRows, spared: Set[str]
) -> list[FactSupersession | WithdrawnSupersession]:
    """Return the ends that change since claims have changed.

    Facts in `spared` are not ended.
    """
    known: list[ChangedClaim] = []
    rows_of: list[Iterator[StatedEnding]] = []
    queue: list[tuple[tuple[int, str, int], int]] = []

    def follow(change: ChangedClaim) -> None:
        claim, subjects, since, until, _ = change

        def may_end(row: StatedEnding) -> bool:
            return _may_end(row, claim)

        known.append(change)
        rows_of.append(
            pending.search_endings(state, subjects, claim.attribute, since, until, may_end)
        )
        advance(len(known) - 1)

    def advance(number: int) -> None:
        """Queue the next sentence that may end a claim, while that claim has changed."""
        row = next(rows_of[number], None)
        if row is not None and row.said_at <= known[number].until:
            heappush(queue, (place_of_ending(row), number))

    for change in changed:
        follow(change)
    rows: list[FactSupersession | WithdrawnSupersession] = []
    while queue:
        place, number = heappop(queue)
        said_at, event_id, position = place
        numbers = [number]
        while queue and queue[0][0] == place:
            numbers.append(heappop(queue)[1])
        found = pending.endings_of_event(state, event_id)
        ending = ending_of_rows([row for row in found if row.position == position])
        values = EndedValues(ending)
        for lookup in ending.lookups:
            if any(
                change.since < said_at <= change.until
                and change.claim.attribute == lookup.attribute
                and not set(change.subjects).isdisjoint(lookup.subjects)
                and values.may_end(lookup, change.claim)
                for change in known
            ):
                for change, ends in _decided_again(ending, values, lookup, state, pending, spared):
                    rows += ends
                    if not _ends_new(change, known):
                        follow(change)
        for number in numbers:
            advance(number)
    return rows


def _ends_new(change: ChangedClaim, known: list[ChangedClaim]) -> bool:
    """Shorten a claim that is new if it ends, and return whether it is; what follows stays."""
    for number, one in enumerate(known):
        if (
            one.is_new
            and one.claim.fact_id == change.claim.fact_id
            and one.since < change.since
            and change.until == one.until
        ):
            known[number] = one._replace(until=change.since)
            return True
    return False


def _may_end(row: StatedEnding, claim: FactClaim) -> bool:
    """Return whether a sentence may end a claim, by the row of the claim's subject."""
    lookups, values = _lookups_of(row)
    return any(
        lookup.attribute == claim.attribute and values.may_end(lookup, claim) for lookup in lookups
    )


@lru_cache(maxsize=16_384)
def _lookups_of(row: StatedEnding) -> tuple[tuple[Lookup, ...], EndedValues]:
    # An import of old messages compares each with everything that the person said since.
    ending = ending_of_rows([row])
    return ending.lookups, EndedValues(ending)


def _decided_again(
    ending: SaidEnding,
    values: EndedValues,
    lookup: Lookup,
    state: State,
    pending: PendingRows,
    spared: Set[str],
) -> Iterable[_Change]:
    """Yield the claims of a lookup that a sentence ends now, and those that it no longer ends."""
    said_at, by = ending.said_at, ending.ended_by

    def may_end(claim: FactClaim) -> bool:
        return claim.fact_id != by and claim.fact_id not in spared and values.may_end(lookup, claim)

    found = pending.search_claims(
        state, [*lookup.subjects], lookup.attribute, may_end, stated_by=said_at
    )
    ends = state.supersessions([item.claim.fact_id for item in found if item.until == said_at])
    ended = {
        fact
        for fact, end in ends.items()
        if end == (by, said_at) and not pending.has_changed_end(fact)
    }
    standing = [
        item
        for item in found
        if item.claim.fact_id in ended
        or (
            (item.until is None or item.until > said_at)
            # Of the same time are the statements of the message itself.
            and pending.is_stated_by(item.claim, said_at - 1, state)
        )
    ]
    until = {item.claim.fact_id: item.until for item in found}
    selected = {each.fact_id: each for each in values.ended(lookup, standing, state, pending)}
    for fact, claim in selected.items():
        if fact not in ended and not pending.is_stated_after(fact, claim.as_of, said_at - 1, state):
            row = FactSupersession(fact, by, said_at)
            pending.supersede([row])
            again = [WithdrawnSupersession(fact, by, 0)] if state.is_withdrawn(fact, by) else []
            change = ChangedClaim(claim, lookup.subjects, said_at, until[fact] or LATEST_MS)
            yield _Change(change, (row, *again))
    for item in found:
        fact = item.claim.fact_id
        if fact in ended - selected.keys() and not ends_earlier(fact, by, state, pending):
            end = next_end(item.claim, lookup.subjects, said_at, state, pending, spared)
            changed = end or WithdrawnSupersession(item.claim.fact_id, by)
            pending.supersede([changed])
            ends_at = LATEST_MS if end is None else end.invalid_at
            change = ChangedClaim(item.claim, lookup.subjects, said_at, ends_at)
            yield _Change(change, (changed,))


def ends_before_begun(
    ended: Iterable[tuple[Lookup, DatedClaim]],
    at: int,
    state: State,
    pending: PendingRows,
    spared: Set[str],
) -> list[FactSupersession | WithdrawnSupersession]:
    """Return the new ends of what would have ended when a claim began that ends before, at `at`.

    `ended`: the claims that end. Facts in `spared` do not count.
    """
    rows: list[FactSupersession | WithdrawnSupersession] = []
    for lookup, (claim, _) in ended:
        if claim.as_of <= at:
            continue
        others = pending.claims_of(state, [*lookup.subjects], claim.attribute)
        facts = [each.claim.fact_id for each in others if each.until == claim.as_of]
        ends = state.supersessions(facts)
        for other in others:
            if ends.get(other.claim.fact_id) != (claim.fact_id, claim.as_of):
                continue
            end = next_end(other.claim, lookup.subjects, claim.as_of, state, pending, spared)
            rows.append(end or WithdrawnSupersession(other.claim.fact_id, claim.fact_id))
    pending.supersede(rows)
    return rows


def next_end(
    claim: FactClaim,
    subjects: Sequence[str],
    after: int,
    state: State,
    pending: PendingRows,
    spared: Set[str],
) -> FactSupersession | None:
    """Return the end of a claim by another value that was stated after a time (unix ms)."""
    others = incompatible_claims(
        claim, claim.fact_id, claim.as_of, [*subjects], state, pending, spared
    )
    first = pending.first_statement(others, after, state)
    if first is None:
        return None
    at, fact = first
    state.use_claim(fact)
    return FactSupersession(claim.fact_id, fact, at)
