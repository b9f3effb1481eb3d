"""The rows that the writer has decided from a record, before they are in the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.changes import (
    ClaimSignature,
    Fact,
    FactClaim,
    FactFingerprint,
    FactOccasion,
    FactSupersession,
    MergedSupersession,
    StatedEnding,
    WithdrawnSupersession,
)
from recollect.schemas.memory_terms import MemoryAuthor
from recollect.streams.agents.state import State, StatedFact, stored_signature
from recollect.streams.agents.writer.retractions import EventFact

#: Statements within this time of each other (ms) may be duplicates. 24 hours, as in Hindsight.
DUPLICATE_WINDOW_MS = 86_400_000


class PendingRows(msgspec.Struct):
    """The rows decided from this record so far.

    All events of a turn are decided with the record that completes it.
    """

    facts: list[Fact] = []
    claim_signatures: list[ClaimSignature] = []
    fingerprints: list[FactFingerprint] = []
    claims: list[FactClaim] = []
    #: fact id -> the end of its validity (unix ms)
    invalid_at: dict[str, int] = {}
    #: The facts whose end in the state was withdrawn; they are valid unless in `invalid_at`.
    revived: set[str] = set()
    #: fact id -> its supersession by a fact of another, merged person
    merged: dict[str, MergedSupersession] = {}
    #: The ids of the events decided so far.
    event_ids: set[str] = set()
    occasions: list[FactOccasion] = []
    endings: list[StatedEnding] = []
    #: fact id -> who stored the memory that it is from
    authors: dict[str, MemoryAuthor] = {}
    #: The ids of the events whose endings in the state no longer count.
    replaced: set[str] = set()

    def supersede(self, rows: Iterable[FactSupersession | WithdrawnSupersession]) -> None:
        """Add rows that replace the ends of facts in the state."""
        for row in rows:
            if isinstance(row, FactSupersession):
                self.invalid_at[row.fact_id] = row.invalid_at
            else:
                self.revived.add(row.fact_id)

    def end_of(self, fact_id: str, until: int | None) -> int | None:
        """Return the end of a fact's validity (unix ms); `until` is that in the state."""
        return self.invalid_at.get(fact_id, None if fact_id in self.revived else until)

    def has_changed_end(self, fact_id: str) -> bool:
        """Return whether a fact has another end than in the state."""
        return fact_id in self.invalid_at or fact_id in self.revived

    def author_of(self, fact_id: str, state: State) -> MemoryAuthor:
        """Return who stored the memory that a fact, new or stored, is from."""
        return self.authors.get(fact_id) or state.author(fact_id)

    def may_end(self, newer: str, older: str, state: State) -> bool:
        """Return whether a fact may end another: not one of another owner's memory."""
        return self.author_of(newer, state).may_end(self.author_of(older, state))

    def facts_with_signature(
        self, signatures: Sequence[str], after: int, before: int, state: State
    ) -> list[StatedFact]:
        """Return the facts with one of these signatures in a period (unix ms), the new ones last.

        Retracted ones are left out.
        """
        found = [
            each._replace(until=self.end_of(each.id, each.until))
            for each in state.facts_with_signature(signatures, after, before)
        ]
        stored = {stored_signature(signature) for signature in signatures}
        new = [(fact.id, fact.as_of, fact.signature) for fact in self.facts]
        new += [(row.fact_id, row.as_of, row.signature) for row in self.claim_signatures]
        return found + [
            StatedFact(id_, as_of, self.invalid_at.get(id_))
            for id_, as_of, key in new
            if key in stored and after <= as_of <= before
        ]

    def similar_facts(self, keys: list[str], as_of: int) -> list[FactFingerprint]:
        """Return the fingerprints of current new facts with one of these keys in the window."""
        return [
            each
            for each in self.fingerprints
            if each.key in keys
            and abs(each.as_of - as_of) <= DUPLICATE_WINDOW_MS
            and each.fact_id not in self.invalid_at
        ]

    def text_of(self, fact_id: str, state: State) -> str:
        """Return the text of a fact, new or stored; "" if there is none."""
        new = next((each for each in reversed(self.facts) if each.id == fact_id), None)
        fact = new or state.fact(fact_id)
        return fact.text if fact is not None else ""

    def first_repeat(self, fact_id: str, after: int, state: State) -> int | None:
        """Return when a fact was first stated again after a time (unix ms), or None."""
        times = self.repeat_times(state, fact_id)
        return min((time for time in times if time > after), default=None)

    def repeat_times(self, state: State, fact_id: str) -> list[int]:
        """Return when a fact was stated again (unix ms)."""
        times = [each.said_at for each in self.occasions if each.fact_id == fact_id]
        return times + state.repeat_times(fact_id)

    def claims_of(self, state: State, subjects: list[str], attribute: str) -> list[DatedClaim]:
        """Return the claims of the state and the new ones, oldest first."""
        return self._with_new(state.claims(subjects, attribute), subjects, attribute)

    def search_claims(
        self,
        state: State,
        subjects: list[str],
        attribute: str,
        is_candidate: Callable[[FactClaim], bool],
    ) -> list[DatedClaim]:
        """Return those claims of `claims_of` that are candidates.

        Callers must call `State.use_claim` for those used.
        """
        stored = state.search_claims(subjects, attribute, is_candidate)
        return [
            item for item in self._with_new(stored, subjects, attribute) if is_candidate(item.claim)
        ]

    def search_endings(
        self,
        state: State,
        subjects: Sequence[str],
        attribute: str,
        after: int,
        until: int,
        is_candidate: Callable[[StatedEnding], bool],
    ) -> list[StatedEnding]:
        """Return the candidates among the endings of an attribute of a subject, within a period.

        Callers must call `endings_of_event` for those used.
        """
        stored = state.search_endings(subjects, attribute, after, until, is_candidate)
        return [each for each in stored if each.event_id not in self.replaced] + [
            each
            for each in self.endings
            if each.subject in subjects and after < each.said_at <= until and is_candidate(each)
        ]

    def endings_of_event(self, state: State, event_id: str) -> list[StatedEnding]:
        """Return what the sentences of an event may end."""
        new = [each for each in self.endings if each.event_id == event_id]
        return new or state.endings_of_events([event_id])

    def _with_new(
        self, stored: Sequence[DatedClaim], subjects: Sequence[str], attribute: str
    ) -> list[DatedClaim]:
        found = [DatedClaim(claim, self.end_of(claim.fact_id, until)) for claim, until in stored]
        found += [
            DatedClaim(claim, self.invalid_at.get(claim.fact_id))
            for claim in self.claims
            if claim.subject in subjects and claim.attribute == attribute
        ]
        return sorted(found, key=lambda item: item.claim.as_of)


def all_facts_of_event(event_id: str, state: State, pending: PendingRows) -> list[EventFact]:
    """Return the facts that an event states, for the first time or again, the new ones last."""
    stored = [*state.facts_of_event(event_id), *state.occasions_of(event_id)]
    new = [(fact.id, fact.text) for fact in pending.facts if fact.source_event_id == event_id]
    new += [(each.fact_id, each.text) for each in pending.occasions if each.event_id == event_id]
    return [
        *(
            EventFact(id_, text, is_current or id_ in pending.revived)
            for id_, text, is_current in stored
        ),
        *(EventFact(id_, text, id_ not in pending.invalid_at) for id_, text in new),
    ]
