"""The rows that the writer has decided from a record, before they are in the state."""

from __future__ import annotations

import msgspec

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.changes import Fact, FactClaim, FactFingerprint, MergedSupersession
from recollect.streams.agents.state import State, stored_signature
from recollect.streams.agents.writer.retractions import EventFact

#: Statements within this time of each other (ms) may be duplicates. 24 hours, as in Hindsight.
DUPLICATE_WINDOW_MS = 86_400_000


class PendingRows(msgspec.Struct):
    """The rows decided from this record so far.

    All events of a turn are decided with the record that completes it.
    """

    facts: list[Fact] = []
    fingerprints: list[FactFingerprint] = []
    claims: list[FactClaim] = []
    #: fact id -> the end of its validity (unix ms)
    invalid_at: dict[str, int] = {}
    #: fact id -> its supersession by a fact of another, merged person
    merged: dict[str, MergedSupersession] = {}
    #: The ids of the events decided so far.
    event_ids: set[str] = set()
    #: (fact id, unix ms) of each duplicate statement
    repeats: list[tuple[str, int]] = []

    def fact_with_signature(self, signatures: list[str], as_of: int) -> str | None:
        """Return the first current new fact with one of these signatures in the window."""
        stored = {stored_signature(signature) for signature in signatures}
        for fact in self.facts:
            in_window = abs(fact.as_of - as_of) <= DUPLICATE_WINDOW_MS
            if fact.signature in stored and in_window and fact.id not in self.invalid_at:
                return fact.id
        return None

    def similar_facts(self, keys: list[str], as_of: int) -> list[FactFingerprint]:
        """Return the fingerprints of current new facts with one of these keys in the window."""
        return [
            each
            for each in self.fingerprints
            if each.key in keys
            and abs(each.as_of - as_of) <= DUPLICATE_WINDOW_MS
            and each.fact_id not in self.invalid_at
        ]

    def first_repeat(self, fact_id: str, after: int, state: State) -> int | None:
        """Return when a fact was first stated again after a time (unix ms), or None."""
        times = self.repeat_times(state, fact_id)
        return min((time for time in times if time > after), default=None)

    def repeat_times(self, state: State, fact_id: str) -> list[int]:
        """Return when a fact was stated again (unix ms)."""
        times = [time for fact, time in self.repeats if fact == fact_id]
        return times + state.repeat_times(fact_id)

    def claims_of(self, state: State, subjects: list[str], attribute: str) -> list[DatedClaim]:
        """Return the claims of the state and the new ones, oldest first."""
        found = [
            DatedClaim(claim, self.invalid_at.get(claim.fact_id, until))
            for claim, until in state.claims(subjects, attribute)
        ]
        found += [
            DatedClaim(claim, self.invalid_at.get(claim.fact_id))
            for claim in self.claims
            if claim.subject in subjects and claim.attribute == attribute
        ]
        return sorted(found, key=lambda item: item.claim.as_of)


def all_facts_of_event(event_id: str, state: State, pending: PendingRows) -> list[EventFact]:
    """Return the facts extracted from an event, those in the state first, then the new ones."""
    stored = [EventFact(*each) for each in state.facts_of_event(event_id)]
    return stored + [
        EventFact(fact.id, fact.text, fact.id not in pending.invalid_at)
        for fact in pending.facts
        if fact.source_event_id == event_id
    ]
