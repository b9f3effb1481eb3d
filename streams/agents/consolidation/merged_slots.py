"""Slots of merged persons: when a statement of one person ends a fact of the other.

`FactSupersession` rows are decided as if no command had merged the two persons. If a fact of one
person is superseded by a fact of the other, it also gets a `MergedSupersession` row, which is
withdrawn when the merge is undone. So undoing a merge restores the slots exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.attributes import OPPOSITES, SINGLE_VALUED, is_single_valued
from recollect.schemas.changes import FactClaim, MergedSupersession
from recollect.schemas.memory_terms import NO_AUTHOR, MemoryAuthor
from recollect.schemas.names import normalise_name
from recollect.streams.agents.state import State

#: The attributes whose values are always compared when two persons are merged.
ALWAYS_COMPARED = (*SINGLE_VALUED, *OPPOSITES)


class StatedClaim(NamedTuple):
    """A claim of one of several merged persons. Times are unix ms.

    Attributes:
        person: the id of the person, ignoring merges by command.
        value: the normalised value.
        until: when another fact of the same person ended it; None if none did.
        last: when the person last stated it.
        author: who stored the memory that states it.
    """

    claim: FactClaim
    person: str
    value: str
    until: int | None
    last: int
    author: MemoryAuthor = NO_AUTHOR


def merged_ends(claims: Iterable[StatedClaim]) -> dict[str, tuple[str, int]]:
    """Return the facts that another person's fact supersedes: id -> (id of that fact, unix ms).

    A fact ends when another person states an incompatible fact after it was last stated, unless a
    fact of the same person ended it before. Of two facts of the same time, the one with the lower
    id ends. A fact that ended when it began supersedes nothing.
    """
    # A value of a multi-valued attribute conflicts only with the same value of its opposite.
    rivals: dict[str | None, list[StatedClaim]] = {}
    for claim in claims:
        value = None if is_single_valued(claim.claim.attribute) else claim.value
        rivals.setdefault(value, []).append(claim)
    return {
        one.claim.fact_id: end
        for candidates in rivals.values()
        for one in candidates
        if (end := _end_by_others(one, candidates)) is not None
    }


def _end_by_others(one: StatedClaim, others: Iterable[StatedClaim]) -> tuple[str, int] | None:
    """Return the other person's fact that ends `one`, and when (unix ms); None if none does."""
    later = [
        (time, other.claim.fact_id)
        for other in others
        if other.person != one.person
        and other.author.may_end(one.author)
        and other.until != other.claim.as_of
        and (other.value, other.claim.attribute) != (one.value, one.claim.attribute)
        for time in (other.claim.as_of, other.last)
        if (time, other.claim.fact_id) > (one.last, one.claim.fact_id)
    ]
    at = min((time for time, _ in later), default=None)
    if at is None or (one.until is not None and one.until <= at):
        return None
    return max(fact for time, fact in later if time == at), at


def merged_supersessions(
    persons: Iterable[Sequence[str]],
    attributes: Iterable[str],
    own_id: Callable[[str], str],
    claims_of: Callable[[Sequence[str], str], Sequence[DatedClaim]],
    repeat_times: Callable[[str], Sequence[int]],
    author_of: Callable[[str], MemoryAuthor],
    state: State,
    pending: Mapping[str, MergedSupersession],
) -> list[MergedSupersession]:
    """Return the `MergedSupersession` rows that change.

    `persons`: the ids of each merged person. Only slots with one of the `attributes` are compared.
    `own_id` returns the id of a subject's person, ignoring merges by command. `claims_of` returns
    the claims about some ids under an attribute. `repeat_times` returns the times (unix ms) at
    which a fact was stated again, `author_of` who stored the memory that it is from. `pending`: the
    rows that the current record has decided, by fact.
    """
    slots = {
        tuple(sorted({attribute, OPPOSITES.get(attribute, attribute)})) for attribute in attributes
    }
    changed = []
    for ids in persons:
        for slot in sorted(slots):
            claims = [
                StatedClaim(
                    item.claim,
                    own_id(item.claim.subject),
                    normalise_name(item.claim.value),
                    item.until,
                    max((item.claim.as_of, *repeat_times(item.claim.fact_id))),
                    author_of(item.claim.fact_id),
                )
                for attribute in slot
                for item in claims_of(ids, attribute)
            ]
            ends = merged_ends(claims)
            by_fact = {item.claim.fact_id: item.claim for item in claims}
            for _, claim in sorted(by_fact.items()):
                known = pending.get(claim.fact_id) or state.merged_supersession(claim.fact_id)
                row = _row(claim, ends.get(claim.fact_id), known)
                if row != known and row is not None:
                    changed.append(row)
    return changed


def _row(
    claim: FactClaim, end: tuple[str, int] | None, known: MergedSupersession | None
) -> MergedSupersession | None:
    """Return the supersession row of a fact that ends at `end`.

    Without an end, return its known row as withdrawn, or None if it has no row.
    """
    if end is not None:
        return MergedSupersession(claim.fact_id, claim.subject, claim.attribute, *end, 1)
    if known is None:
        return None
    withdrawn = (known.superseded_by, known.invalid_at, 0)
    return MergedSupersession(claim.fact_id, claim.subject, claim.attribute, *withdrawn)
