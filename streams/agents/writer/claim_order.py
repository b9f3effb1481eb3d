"""Whom a claim is about, and which of the claims of a slot is valid when (F7)."""

from __future__ import annotations

from collections.abc import Set

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.attributes import OPPOSITES, is_single_valued
from recollect.schemas.changes import AnyRow, FactClaim, FactSupersession
from recollect.schemas.events import Content
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import Known, State
from recollect.streams.agents.writer.decided_so_far import DecidedSoFar
from recollect.streams.language.attributes.frames import MASK
from recollect.streams.language.grammar.analysis import Claim


def subjects_of(
    claim: Claim, content: Content, sender: Known, resolver: EntityResolver
) -> list[str]:
    """Return the ids of the person whom a claim is about, or a name if nobody is known by it.

    Of an open frame the name is one of them: whose slot it is, is mostly no person, and the first
    of them is what the claim is kept under.
    """
    subject = normalise_name(claim.subject)
    of_sender = subject == normalise_name(content.sender_name or content.sender_id)
    known = sender if of_sender else resolver.known_here(claim.subject, "PERSON")
    ids = [] if known is None else resolver.ids(known)
    if MASK in claim.attribute:
        return [*ids, subject] if of_sender else [subject, *ids]
    return ids or [subject]


def claim_rows(
    claim: Claim,
    subjects: list[str],
    identity: str,
    as_of: int,
    state: State,
    new: DecidedSoFar,
    replaced: Set[str],
) -> list[AnyRow]:
    """Return the rows of a statement's claim, and of its order among earlier claims (F7).

    Of two that differ, the earlier is valid until the later begins, whichever was said first. Of
    two with the same time, the one that was said first ends. A value that was said again after
    this one goes on, and this one ends there. Facts in `replaced` do not count. What can have
    several values ends none of them, but the same value of its opposite.
    """
    made = FactClaim(identity, subjects[0], claim.attribute, claim.value, as_of)
    ends: list[FactSupersession] = []
    others = [
        item
        for item in _excluded(claim, subjects, state, new)
        if item.claim.fact_id not in replaced
    ]
    after: list[tuple[int, str]] = []
    for other, until in others:
        if other.as_of <= as_of and (until is None or until >= as_of):
            again = new.said_again(other.fact_id, as_of, state) if until is None else None
            if again is None:
                ends.append(FactSupersession(other.fact_id, identity, as_of))
            else:
                after.append((again, other.fact_id))
        elif other.as_of > as_of and until != other.as_of:
            after.append((other.as_of, other.fact_id))
    if after:
        time, fact = min(after)
        ends.append(FactSupersession(identity, fact, time))
    new.claims.append(made)
    new.until.update((row.fact_id, row.invalid_at) for row in ends)
    return [made, *ends]


def _excluded(
    claim: Claim, subjects: list[str], state: State, new: DecidedSoFar
) -> list[DatedClaim]:
    """Return the claims that cannot hold at once with one."""
    value = normalise_name(claim.value)
    if is_single_valued(claim.attribute):
        held = new.claims_of(state, subjects, claim.attribute)
        return [item for item in held if normalise_name(item.claim.value) != value]
    opposite = OPPOSITES.get(claim.attribute)
    if opposite is None:
        return []
    held = new.claims_of(state, subjects, opposite)
    return [item for item in held if normalise_name(item.claim.value) == value]
