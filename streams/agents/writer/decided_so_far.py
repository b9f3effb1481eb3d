"""What the writer decided from a record, before it is in the state."""

from __future__ import annotations

import msgspec

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.changes import Fact, FactClaim, FactFingerprint
from recollect.streams.agents.state import State, kept_signature
from recollect.streams.agents.writer.retractions import HeldFact

#: Near-duplicates are skipped "in the same period": Hindsight's 24 hours, either way.
SAME_PERIOD_MS = 86_400_000


class DecidedSoFar(msgspec.Struct):
    """What was decided from this record so far, and is not in the state yet.

    All events of a turn are decided with the record that completes it.
    """

    facts: list[Fact] = []
    likenesses: list[FactFingerprint] = []
    claims: list[FactClaim] = []
    #: The end of the validity of superseded facts.
    until: dict[str, int] = {}
    #: The ids of the events that were decided with this record.
    read: set[str] = set()
    #: Which facts were said again, and when.
    repeated: list[tuple[str, int]] = []

    def fact_with_signature(self, signatures: list[str], as_of: int) -> str | None:
        """Return the first new fact with the same signature within the period."""
        kept = {kept_signature(signature) for signature in signatures}
        for fact in self.facts:
            near = abs(fact.as_of - as_of) <= SAME_PERIOD_MS
            if fact.signature in kept and near and fact.id not in self.until:
                return fact.id
        return None

    def facts_alike(self, keys: list[str], as_of: int) -> list[FactFingerprint]:
        """Return the new facts with one of these keys of likeness within the period."""
        return [
            each
            for each in self.likenesses
            if each.key in keys
            and abs(each.as_of - as_of) <= SAME_PERIOD_MS
            and each.fact_id not in self.until
        ]

    def said_again(self, fact_id: str, after: int, state: State) -> int | None:
        """Return when a fact was first said again after a time; None: it was not."""
        times = [time for fact, time in self.repeated if fact == fact_id]
        times += state.times_repeated(fact_id)
        return min((time for time in times if time > after), default=None)

    def claims_of(self, state: State, subjects: list[str], attribute: str) -> list[DatedClaim]:
        """Return the claims of the state and the new ones, by the time they began."""
        held = [
            DatedClaim(claim, self.until.get(claim.fact_id, until))
            for claim, until in state.claims(subjects, attribute)
        ]
        held += [
            DatedClaim(claim, self.until.get(claim.fact_id))
            for claim in self.claims
            if claim.subject in subjects and claim.attribute == attribute
        ]
        return sorted(held, key=lambda item: item.claim.as_of)


def held_from(event_id: str, state: State, new: DecidedSoFar) -> list[HeldFact]:
    """Return the facts that an event gave, of the state and of this record."""
    held = [HeldFact(*each) for each in state.facts_from(event_id)]
    return held + [
        HeldFact(fact.id, fact.text, fact.id not in new.until)
        for fact in new.facts
        if fact.source_event_id == event_id
    ]
