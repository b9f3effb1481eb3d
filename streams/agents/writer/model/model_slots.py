"""The slots that a model's facts fill and end, and the earlier facts that they retract.

A value is ordered among the others by the code that orders the rules' claims (`claim_order`): by
when it was said, over all threads, merged persons included. What the rules concluded from the same
message is never contradicted. A fact is retracted only where it was shown to the model, is about
the same subject, and the message says that it is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import msgspec

from recollect.schemas.attributes import OPPOSITES, is_single_valued
from recollect.schemas.changes import (
    AnyRow,
    ClaimSignature,
    FactDays,
    FactOccasion,
    FactSupersession,
)
from recollect.schemas.events import Event, message_of
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.agents.state import EntityRef, State, stored_signature
from recollect.streams.agents.writer.claims.claim_order import (
    Subjects,
    claim_rows,
    merged_rows,
    subjects_of,
)
from recollect.streams.agents.writer.claims.late_claims import claims_of_rows, later_ends
from recollect.streams.agents.writer.model.proposals import ProposedFact
from recollect.streams.agents.writer.model.proposed_slots import (
    EarlierMessage,
    ProposedSlot,
    Quotation,
    is_same_value,
)
from recollect.streams.agents.writer.model.quotations import plain_form
from recollect.streams.agents.writer.model.restatements import shared_subjects
from recollect.streams.agents.writer.pending_rows import PendingRows
from recollect.streams.agents.writer.repetitions import (
    claim_signatures_of,
    earlier_claim_rows,
    find_same_claim,
    says_more,
)
from recollect.streams.agents.writer.retracted_statements import retracted_statement
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.grounding import occurs


class EarlierFact(NamedTuple):
    """A fact that was stated before a message, and whether it is current; `as_of` is unix ms."""

    id: str
    text: str
    as_of: int
    current: bool


class ModelSlots:
    """The slot values and retractions of a model's facts about one message.

    `near` are the ids of the events whose facts may be retracted, `earlier` the messages before
    this one. `own_facts` are the ids of the facts that the message states already.
    """

    def __init__(
        self,
        about: Event,
        said_at: int,
        near: Sequence[str],
        earlier: Sequence[EarlierMessage],
        own_facts: Set[str],
        sender: EntityRef,
        resolver: EntityResolver,
        state: State,
    ) -> None:
        self._about = about
        self._content = message_of(about)
        self._at = said_at
        self._near = near
        self._earlier: Mapping[str, EarlierMessage] = {one.event_id: one for one in earlier}
        self._own = set(own_facts)
        self._sender = sender
        self._resolver = resolver
        self._state = state
        self._pending = PendingRows()
        #: id of a fact -> the slot value that this decision gives it
        self._new_claims: dict[str, ProposedSlot] = {}

    def contradicts_rules(self, fact: ProposedFact) -> bool:
        """Return whether the message's own facts give something else for a fact's slot."""
        slot = fact.slot
        if slot is None:
            return False
        values = self._own_values(slot, slot.attribute)
        if not slot.holds:
            return any(is_same_value(value, slot.value) for value in values.values())
        opposite = OPPOSITES.get(slot.attribute)
        opposed = {} if opposite is None else self._own_values(slot, opposite)
        return any(is_same_value(value, slot.value) for value in opposed.values()) or (
            is_single_valued(slot.attribute)
            and any(not is_same_value(value, slot.value) for value in values.values())
        )

    def can_give(self, fact: ProposedFact, known: str, text: str) -> bool:
        """Return whether a known fact, which has this text, gives a fact's slot value too.

        It does if it has this value, or if it has no value and its text contains this one.
        """
        slot = fact.slot
        if slot is None or not slot.holds:
            return True
        claim = self._new_claims.get(known) or self._state.claim_of(known)
        if claim is None:
            return occurs(slot.value, (plain_form(text),))
        return claim.attribute == slot.attribute and is_same_value(claim.value, slot.value)

    def find_same(self, fact: ProposedFact) -> tuple[str, list[AnyRow]] | None:
        """Return the id of a fact with the same value, and the rows by which this one repeats it.

        None if there is none, or if the fact says more than its value.
        """
        slot = fact.slot
        if slot is None or not slot.holds or says_more(fact.text, slot.claim):
            return None
        own = [
            id_
            for id_, value in self._own_values(slot, slot.attribute).items()
            if is_same_value(value, slot.value)
        ]
        if own:
            return own[0], []
        if fact.days is not None:
            return None
        claim, subjects = slot.claim, self._subjects(slot)
        signatures = claim_signatures_of(claim, subjects, self._resolver.own_ids(self._sender))
        known = find_same_claim(
            claim, signatures, self._at, subjects, self._state, self._pending, frozenset()
        )
        if known is None:
            return None
        if known in self._own:
            return known, []
        fields = (fact.start, self._at, fact.text, "said again: the same value", 1)
        occasion = FactOccasion(known, self._about.id, *fields)
        rows: list[AnyRow] = [
            *earlier_claim_rows(claim, known, self._at, subjects, self._state, self._pending),
            occasion,
        ]
        self._pending.occasions.append(occasion)
        rows += merged_rows(
            claim, subjects, self._resolver.own_id, self._state, self._pending, frozenset()
        )
        return known, rows

    def signature_rows(self, fact: ProposedFact) -> list[ClaimSignature]:
        """Return the row by which later statements of a new fact's value find it."""
        self._own.add(fact.id)
        slot = fact.slot
        if slot is None or not slot.holds:
            return []
        self._new_claims[fact.id] = slot
        ids = self._resolver.own_ids(self._sender)
        signatures = claim_signatures_of(slot.claim, self._subjects(slot), ids)
        rows = [
            ClaimSignature(fact.id, stored_signature(signature), self._at)
            for signature in signatures[:1]
        ]
        self._pending.claim_signatures += rows
        return rows

    def complete(self, fact: ProposedFact, known: str) -> list[AnyRow]:
        """Return the slot value and the days of a fact, for a known fact that lacks them.

        The known fact is a current one of the message itself.
        """
        rows: list[AnyRow] = []
        slot, days = fact.slot, fact.days
        is_free = known not in self._new_claims and self._state.claim_of(known) is None
        if slot is not None and slot.holds and is_free:
            renamed = msgspec.structs.replace(fact, id=known)
            rows += [*self.signature_rows(renamed), *self.rows(fact, known)]
        if days is not None and self._state.days_of(known) is None:
            rows.append(FactDays(known, *days))
        return rows

    def rows(self, fact: ProposedFact, id_: str) -> list[AnyRow]:
        """Return the rows of a fact's slot: its claim and what that supersedes, or what it ends."""
        slot = fact.slot
        if slot is None:
            return []
        subjects = self._subjects(slot)
        if slot.holds:
            rows = claim_rows(
                slot.claim,
                subjects,
                id_,
                self._at,
                self._resolver.own_id,
                self._state,
                self._pending,
                frozenset(),
            )
            # The model may answer after later messages were decided.
            changed = claims_of_rows(rows, subjects.own, self._state)
            return [*rows, *later_ends(changed, self._state, self._pending, frozenset())]
        claims = self._pending.claims_of(self._state, subjects.own, slot.attribute)
        ended = [
            item.claim.fact_id
            for item in claims
            if is_same_value(item.claim.value, slot.value)
            and item.claim.as_of <= self._at
            and (item.until is None or item.until > self._at)
        ]
        return [*self._ends(ended, id_)]

    def retractions(self, fact: ProposedFact, id_: str) -> list[FactSupersession] | None:
        """Return the ends of the facts that a fact retracts; None if it may retract none."""
        if fact.retracts is None:
            return []
        found = [each for each in self._retracted(fact.retracts) if each.id != id_]
        allowed = [each for each in found if self._may_retract(fact, each)]
        if not allowed:
            return None
        current = [each.id for each in allowed if each.current and each.as_of <= self._at]
        return self._ends(current, id_)

    def _ends(self, facts: Sequence[str], newer: str) -> list[FactSupersession]:
        """Return the ends of facts by a newer one, unless they were stated again since."""
        rows = [
            FactSupersession(id_, newer, self._at)
            for id_ in facts
            if id_ != newer
            and id_ not in self._pending.invalid_at
            and self._pending.first_repeat(id_, self._at, self._state) is None
        ]
        self._pending.invalid_at.update((row.fact_id, row.invalid_at) for row in rows)
        return rows

    def _may_retract(self, fact: ProposedFact, old: EarlierFact) -> bool:
        """Return whether a fact says that an earlier one, of the same subject, is over."""
        if old.id in self._pending.invalid_at:
            return True
        subjects = shared_subjects(fact.text, old.text)
        if not subjects:
            return False
        slot, words = fact.slot, content_words(old.text)
        if slot is not None and not slot.holds:
            return content_words(slot.value) <= words
        shared = content_words(fact.text) & words - content_words(" ".join(subjects))
        return fact.takes_back and bool(shared)

    def _retracted(self, retracts: str | Quotation) -> list[EarlierFact]:
        """Return the facts that a retraction names, by their id or by a quotation."""
        if isinstance(retracts, str):
            return [
                fact
                for event_id in self._near
                for fact in self._facts_of(event_id)
                if fact.id == retracts
            ][:1]
        earlier = self._earlier[retracts.event_id]
        statement = retracted_statement(
            earlier.text, retracts.start, retracts.end, earlier.sender_names
        )
        again = [
            EarlierFact(id_, text, earlier.at_ms, current)
            for id_, text, current in self._state.occasions_of(earlier.event_id)
        ]
        return [
            fact
            for fact in (*self._facts_of(earlier.event_id), *again)
            if statement.is_said_by(fact.text)
        ]

    def _facts_of(self, event_id: str) -> list[EarlierFact]:
        current = set(self._state.current_facts(event_id))
        return [
            EarlierFact(id_, text, as_of, id_ in current)
            for id_, text, as_of in self._state.dated_facts_of(event_id)
        ]

    def _own_values(self, slot: ProposedSlot, attribute: str) -> dict[str, str]:
        """Return the values of the subject's attribute that the message itself states, by fact."""
        subjects = self._subjects(slot)
        return {
            item.claim.fact_id: item.claim.value
            for item in self._pending.claims_of(self._state, subjects.own, attribute)
            if item.claim.fact_id in self._own
        }

    def _subjects(self, slot: ProposedSlot) -> Subjects:
        return subjects_of(slot.claim, self._content, self._sender, self._resolver)
