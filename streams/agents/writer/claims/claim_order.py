"""The subjects of claims, and the periods in which the claims of a slot are valid (F7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import NamedTuple

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.attributes import (
    MASK,
    OPPOSITES,
    is_single_valued,
)
from recollect.schemas.changes import (
    AnyRow,
    FactClaim,
    FactOccasion,
    FactSupersession,
    MergedSupersession,
)
from recollect.schemas.events import Content
from recollect.schemas.memory_terms import NO_AUTHOR
from recollect.schemas.names import normalise_name
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.consolidation.merged_slots import merged_supersessions
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import EntityRef, State
from recollect.streams.agents.writer.claims.claim_ends import of_same_thing
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.language.attributes.stated_values import OF_THINGS
from recollect.streams.language.grammar.analysis import Claim


class Subjects(NamedTuple):
    """The keys of a claim's subject: a person's ids, or the name if no entity has it.

    The claim is stored under the first of `own`. `merged`: the ids of persons merged with this one
    by command.
    """

    own: list[str]
    merged: list[str]

    def all(self) -> list[str]:
        """Return all keys."""
        return [*self.own, *self.merged]


def subjects_of(
    claim: Claim, content: Content, sender: EntityRef, resolver: EntityResolver
) -> Subjects:
    """Return the keys of a claim's subject, the preferred one first.

    The subject of a frame (a claim without a listed attribute) is rarely a person, so its name
    precedes the ids of persons, unless the subject is the sender.
    """
    if MASK not in claim.attribute:
        return person_keys(claim.subject, content, sender, resolver)
    own, merged = _ids_of(claim.subject, content, sender, resolver)
    subject = normalise_name(claim.subject)
    if _is_sender(claim.subject, content):
        return Subjects([*own, subject], merged)
    return Subjects([subject, *map(normalise_name, claim.also), *own], merged)


def person_keys(
    name: str, content: Content, sender: EntityRef, resolver: EntityResolver
) -> Subjects:
    """Return the keys of a person in claims of listed attributes."""
    own, merged = _ids_of(name, content, sender, resolver)
    return Subjects(own or [normalise_name(name)], merged)


def _ids_of(
    name: str, content: Content, sender: EntityRef, resolver: EntityResolver
) -> tuple[list[str], list[str]]:
    """Return the ids of a person, and those of persons merged with them by command."""
    ids: list[str] = []
    if _is_sender(name, content):
        ids = resolver.sender_ids(sender)
    elif (person := resolver.find_in_conversation(name, "PERSON")) is not None:
        ids = resolver.ids_named(name, person)
    own = [each for each in ids if resolver.own_id(each) == resolver.own_id(ids[0])]
    return own, [each for each in ids if each not in own]


def _is_sender(name: str, content: Content) -> bool:
    return normalise_name(name) == normalise_name(content.sender_name or content.sender_id)


def claim_rows(
    claim: Claim,
    subjects: Subjects,
    fact_id: str,
    as_of: int,
    own_id: Callable[[str], str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[AnyRow]:
    """Return a statement's claim, followed by the supersessions that it causes (F7).

    Claims about persons merged with this one are handled only in `merged_rows`.

    Of two different values the earlier is valid until the later begins, in whatever order they
    were stated. At equal times, the one stated first ends. If the other value was stated again
    after this one, this one ends then instead. A multi-valued slot keeps all its values; a new one
    ends only the same value of the opposite slot. Facts in `replaced` do not count.
    """
    row = FactClaim(fact_id, subjects.own[0], claim.attribute, claim.value, as_of)
    text = pending.text_of(fact_id, state) if claim.attribute in OF_THINGS else ""
    found = incompatible_claims(claim, fact_id, as_of, subjects.own, state, pending, replaced)
    others = [
        item
        for item in of_same_thing(found, text, state, pending)
        if item.claim.as_of > as_of or item.until is None or item.until >= as_of
    ]
    later = [item.claim.fact_id for item in others if item.claim.as_of > as_of]
    # A fact may have been stated earlier, by an event that arrived late, and then only there.
    begun = [item.claim.fact_id for item in others if item.claim.as_of <= as_of] + [
        *pending.unstated_among(later, state)
    ]
    again = {fact for _, fact in pending.first_repeats(begun, as_of, LATEST_MS, state)}
    for fact in begun:
        state.use_claim(fact)
    ends = [FactSupersession(fact, fact_id, as_of) for fact in begun if fact not in again]
    if (first := pending.first_statement(others, as_of, state)) is not None:
        time, newer = first
        state.use_claim(newer)
        ends.append(FactSupersession(fact_id, newer, time))
    pending.claims.append(row)
    pending.invalid_at.update((end.fact_id, end.invalid_at) for end in ends)
    return [row, *ends, *merged_rows(claim, subjects, own_id, state, pending, replaced)]


def merged_rows(
    claim: Claim,
    subjects: Subjects,
    own_id: Callable[[str], str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[MergedSupersession]:
    """Return the changes that a statement, new or repeated, makes to the claims of merged persons.

    `own_id` returns the id of a subject's person, ignoring merges by command. Facts in `replaced`
    do not count.
    """
    is_single = is_single_valued(claim.attribute)
    if not subjects.merged or not (is_single or claim.attribute in OPPOSITES):
        return []
    value = normalise_name(claim.value)

    def person_of(subject: str) -> str:
        # The subject of a frame is a name, not an entity's id.
        return subjects.own[0] if subject in subjects.own else own_id(subject)

    def claims_of(ids: Sequence[str], attribute: str) -> list[DatedClaim]:
        return [
            item
            for item in pending.claims_of(state, list(ids), attribute)
            if item.claim.fact_id not in replaced
            and (is_single or normalise_name(item.claim.value) == value)
        ]

    rows = merged_supersessions(
        [subjects.all()],
        [claim.attribute],
        person_of,
        claims_of,
        partial(pending.repeat_times, state),
        partial(pending.author_of, state=state),
        state,
        pending.merged,
    )
    pending.merged.update((row.fact_id, row) for row in rows)
    return rows


def merged_rows_after(
    ended: Set[str],
    withdrawn: Sequence[FactOccasion],
    own_id: Callable[[str], str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[MergedSupersession]:
    """Return the changes to the claims of merged persons when a message is edited or deleted.

    `ended`: the facts that only the message stated; `withdrawn`: the occasions on which it stated
    other facts; `own_id` and `replaced` are those of `merged_rows`.
    """
    attributes: dict[tuple[str, ...], set[str]] = {}
    for fact_id in sorted(ended | {row.fact_id for row in withdrawn}):
        claim = state.claim_of(fact_id)
        if claim is None or not (is_single_valued(claim.attribute) or claim.attribute in OPPOSITES):
            continue
        group = tuple(state.group_of(claim.subject))
        if len(group) > 1:
            attributes.setdefault(group, set()).add(claim.attribute)

    def claims_of(ids: Sequence[str], attribute: str) -> list[DatedClaim]:
        found = pending.claims_of(state, list(ids), attribute)
        return [item for item in found if item.claim.fact_id not in replaced]

    rows = [
        row
        for group, slots in sorted(attributes.items())
        for row in merged_supersessions(
            [group],
            slots,
            own_id,
            claims_of,
            partial(pending.repeat_times, state),
            partial(pending.author_of, state=state),
            state,
            pending.merged,
        )
    ]
    pending.merged.update((row.fact_id, row) for row in rows)
    return rows


def incompatible_claims(
    claim: Claim | FactClaim,
    fact_id: str,
    as_of: int,
    subjects: list[str],
    state: State,
    pending: PendingRows,
    replaced: Set[str],
) -> list[DatedClaim]:
    """Search for the claims that cannot be valid at the same time as this one.

    Those of facts in `replaced` are left out. An earlier claim of the same value is included if it
    was retracted: the new claim counts as new, and supersedes what the retracted one superseded.
    Claims of memories are left out of which one may not end the other.
    """
    value = normalise_name(claim.value)

    def is_same(other: FactClaim) -> bool:
        return normalise_name(other.value) == value

    def may_replace_value(other: FactClaim) -> bool:
        is_candidate = not is_same(other) or other.as_of <= as_of
        return is_candidate and other.fact_id not in replaced

    def is_opposite(other: FactClaim) -> bool:
        return is_same(other) and other.fact_id not in replaced

    if is_single_valued(claim.attribute):
        found = [
            item
            for item in pending.search_claims(state, subjects, claim.attribute, may_replace_value)
            if not is_same(item.claim)
            or (item.until is None and state.is_retracted(item.claim.fact_id))
        ]
    elif (opposite := OPPOSITES.get(claim.attribute)) is not None:
        found = pending.search_claims(state, subjects, opposite, is_opposite)
    else:
        return []
    author = pending.author_of(fact_id, state)
    if author == NO_AUTHOR:
        return found  # it may end all of them, and all may end it
    return [
        item
        for item in found
        for other in (pending.author_of(item.claim.fact_id, state),)
        if (other.may_end(author) if item.claim.as_of > as_of else author.may_end(other))
    ]
