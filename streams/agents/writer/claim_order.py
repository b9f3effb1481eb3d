"""The subjects of claims, and the periods in which the claims of a slot are valid (F7)."""

from __future__ import annotations

from collections.abc import Set

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.attributes import OPPOSITES, is_single_valued
from recollect.schemas.changes import AnyRow, FactClaim, FactSupersession
from recollect.schemas.events import Content
from recollect.schemas.names import normalise_name
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import EntityRef, State
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.language.attributes.frames import MASK
from recollect.streams.language.grammar.analysis import Claim


def subjects_of(
    claim: Claim, content: Content, sender: EntityRef, resolver: EntityResolver
) -> list[str]:
    """Return the keys of a claim's subject: a person's ids, or the name if nobody has it.

    The claim is stored under the first. The subject of an open frame is rarely a person, so that
    its name comes first, unless it is the sender's.
    """
    subject = normalise_name(claim.subject)
    of_sender = subject == normalise_name(content.sender_name or content.sender_id)
    person = sender if of_sender else resolver.find_here(claim.subject, "PERSON")
    ids = [] if person is None else resolver.ids(person)
    if MASK in claim.attribute:
        return [*ids, subject] if of_sender else [subject, *ids]
    return ids or [subject]


def claim_rows(
    claim: Claim,
    subjects: list[str],
    fact_id: str,
    as_of: int,
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[AnyRow]:
    """Return a statement's claim, followed by the supersessions that it causes (F7).

    Of two different values the earlier is valid until the later begins, in whatever order they
    were stated. At equal times, the one stated first ends. If the other value was stated again
    after this one, this one ends then instead. A multi-valued slot keeps all its values; a new one
    ends only the same value of the opposite slot. Facts in `replaced` do not count.
    """
    row = FactClaim(fact_id, subjects[0], claim.attribute, claim.value, as_of)
    ends: list[FactSupersession] = []
    others = [
        item
        for item in _incompatible_claims(claim, as_of, subjects, state, pending)
        if item.claim.fact_id not in replaced
    ]
    later: list[tuple[int, str]] = []
    for other, until in others:
        if other.as_of <= as_of and (until is None or until >= as_of):
            again = pending.first_repeat(other.fact_id, as_of, state) if until is None else None
            if again is None:
                ends.append(FactSupersession(other.fact_id, fact_id, as_of))
            else:
                later.append((again, other.fact_id))
        elif other.as_of > as_of and until != other.as_of:
            later.append((other.as_of, other.fact_id))
    if later:
        time, newer = min(later)
        ends.append(FactSupersession(fact_id, newer, time))
    pending.claims.append(row)
    pending.invalid_at.update((end.fact_id, end.invalid_at) for end in ends)
    return [row, *ends]


def _incompatible_claims(
    claim: Claim, as_of: int, subjects: list[str], state: State, pending: PendingRows
) -> list[DatedClaim]:
    """Return the claims that cannot be valid at the same time as this one.

    An earlier claim of the same value is one of them if it was retracted: the new claim is news,
    and supersedes what the retracted one superseded.
    """
    value = normalise_name(claim.value)
    if is_single_valued(claim.attribute):
        found = pending.claims_of(state, subjects, claim.attribute)
        return [
            item
            for item in found
            if normalise_name(item.claim.value) != value
            or (
                item.until is None
                and item.claim.as_of <= as_of
                and state.is_retracted(item.claim.fact_id)
            )
        ]
    opposite = OPPOSITES.get(claim.attribute)
    if opposite is None:
        return []
    found = pending.claims_of(state, subjects, opposite)
    return [item for item in found if normalise_name(item.claim.value) == value]
