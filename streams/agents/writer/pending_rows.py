"""The rows that the writer has decided from a record, before they are in the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice

import msgspec

from recollect.projections.memory.memory_queries import DatedClaim
from recollect.schemas.changes import (
    ClaimSignature,
    Fact,
    FactClaim,
    FactFingerprint,
    FactOccasion,
    FactSentence,
    FactSupersession,
    MergedSupersession,
    StatedEnding,
    WithdrawnSupersession,
)
from recollect.schemas.ids import time_of
from recollect.schemas.memory_terms import MemoryAuthor
from recollect.schemas.times import LATEST_MS
from recollect.streams.agents.state import State, StatedFact, is_stated, stored_signature
from recollect.streams.agents.writer.retractions import EventFact

#: The `char_start` of the row by which the event that a fact is from no longer states it.
OWN_EVENT = -1

#: Statements within this time of each other (ms) may be duplicates. 24 hours, as in Hindsight.
DUPLICATE_WINDOW_MS = 86_400_000


class PendingRows(msgspec.Struct):
    """The rows decided from this record so far.

    All events of a turn are decided with the record that completes it.
    """

    facts: list[Fact] = []
    claim_signatures: list[ClaimSignature] = []
    fingerprints: list[FactFingerprint] = []
    sentences: list[FactSentence] = []
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
    #: The ids of the events whose statements and endings in the state no longer count.
    replaced: set[str] = set()
    #: The facts that the events they are from no longer state, while others do.
    unstated: set[str] = set()

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

    def sentences_before(
        self, state: State, speakers: Sequence[str], before: int, limit: int
    ) -> list[FactSentence]:
        """Return the sentences of `State.search_sentences_before`, and the new ones."""
        stored = state.search_sentences_before(speakers, before, limit)
        return [each for each in stored if each.event_id not in self.replaced] + [
            each for each in self.sentences if each.speaker in speakers and each.said_at < before
        ]

    def sentences_after(
        self, state: State, speakers: Sequence[str], after: int, percent: int, limit: int
    ) -> list[FactSentence]:
        """Return the sentences of `State.search_sentences_after`, and the new ones, in order."""
        stored = state.search_sentences_after(speakers, after, percent, limit)
        found = [each for each in stored if each.event_id not in self.replaced] + [
            each
            for each in self.sentences
            if each.speaker in speakers and each.said_at > after and each.percent >= percent
        ]
        return sorted(found, key=lambda each: (each.said_at, each.fact_id))

    def sentence_of(self, fact_id: str, state: State) -> FactSentence | None:
        """Return the first sentence that states a fact, new or stored; None without any."""
        stored = (
            each for each in state.sentences_of(fact_id) if each.event_id not in self.replaced
        )
        new = (each for each in self.sentences if each.fact_id == fact_id)
        return min((*stored, *new), key=lambda each: each.said_at, default=None)

    def claim_of(self, fact_id: str, state: State) -> FactClaim | None:
        """Return the claim of a fact, new or stored; None if there is none."""
        new = (each for each in self.claims if each.fact_id == fact_id)
        return next(new, None) or state.claim_of(fact_id)

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
        if not self.replaced:
            return times + state.repeat_times(fact_id)
        return times + [
            row.said_at
            for row in state.occasions(fact_id)
            if row.is_standing and row.event_id not in self.replaced
        ]

    def first_repeats(
        self, fact_ids: Sequence[str], after: int, until: int, state: State
    ) -> list[tuple[int, str]]:
        """Return (time, fact) of when facts were stated again after a time, and not after another.

        Of each fact at least the first time (unix ms); facts that were not stated again are left
        out.
        """
        if self.replaced:
            found = [(at, fact) for fact in fact_ids for at in self.repeat_times(state, fact)]
        else:
            given = set(fact_ids)
            found = state.first_repeats(fact_ids, after, until)
            found += [(row.said_at, row.fact_id) for row in self.occasions if row.fact_id in given]
        return [(at, fact) for at, fact in found if after < at <= until]

    def first_statement(
        self, claims: Iterable[DatedClaim], after: int, state: State
    ) -> tuple[int, str] | None:
        """Return when the first of some claims was stated after a time (unix ms), and its fact.

        Claims that ended when they began, or before, do not count.
        """
        facts = {
            item.claim.fact_id: item.claim.as_of
            for item in claims
            if item.until is None or item.until > item.claim.as_of
        }
        later = sorted((as_of, fact) for fact, as_of in facts.items() if as_of > after)
        stated = (each for each in later if not self._is_unstated(each[1], state))
        first = [*islice(stated, 1)]
        until = first[0][0] if first else LATEST_MS
        return min([*first, *self.first_repeats([*facts], after, until, state)], default=None)

    def unstated_among(self, fact_ids: Sequence[str], state: State) -> set[str]:
        """Return those of these facts that the events they are from no longer state."""
        return self.unstated.intersection(fact_ids) | state.unstated_facts(fact_ids)

    def stated_times(self, fact_id: str, as_of: int, state: State) -> list[int]:
        """Return when a fact of a time was stated, for the first time and again (unix ms)."""
        times = self.repeat_times(state, fact_id)
        return times if self._is_unstated(fact_id, state) else [as_of, *times]

    def is_stated_after(self, fact_id: str, as_of: int, at: int, state: State) -> bool:
        """Return whether a fact of a time was stated, or stated again, after another (unix ms)."""
        if as_of > at and time_of(fact_id) > at and not self._is_unstated(fact_id, state):
            return True
        return self.first_repeat(fact_id, at, state) is not None

    def is_stated_by(self, claim: FactClaim, at: int, state: State) -> bool:
        """Return whether the fact of a claim was stated at a time (unix ms) or before."""
        if is_stated(claim, at) and not self._is_unstated(claim.fact_id, state):
            return True
        return any(time <= at for time in self.repeat_times(state, claim.fact_id))

    def _is_unstated(self, fact_id: str, state: State) -> bool:
        """Return whether the event that a fact is from no longer states it."""
        return bool(self.unstated_among([fact_id], state))

    def claims_of(self, state: State, subjects: list[str], attribute: str) -> list[DatedClaim]:
        """Return the claims of the state and the new ones, oldest first."""
        return self._with_new(state.claims(subjects, attribute), subjects, attribute)

    def search_claims(
        self,
        state: State,
        subjects: list[str],
        attribute: str,
        is_candidate: Callable[[FactClaim], bool],
        stated_by: int | None = None,
    ) -> list[DatedClaim]:
        """Return those claims of `claims_of` that are candidates.

        With `stated_by`, only those that were stated at this time (unix ms) or before. Callers must
        call `State.use_claim` for those used.
        """
        again = {row.fact_id for row in self.occasions}
        stored = state.search_claims(subjects, attribute, is_candidate, stated_by, again)
        return [
            item
            for item in self._with_new(stored, subjects, attribute)
            if is_candidate(item.claim)
            and (
                stated_by is None
                or is_stated(item.claim, stated_by)
                or any(at <= stated_by for at in self.repeat_times(state, item.claim.fact_id))
            )
        ]

    def search_endings(
        self,
        state: State,
        subjects: Sequence[str],
        attribute: str,
        after: int,
        until: int,
        is_candidate: Callable[[StatedEnding], bool],
    ) -> Iterator[StatedEnding]:
        """Return the candidates among the endings of an attribute of a subject, in time order.

        Callers must call `endings_of_event` for those used.
        """
        stored = state.search_endings(subjects, attribute, after, until, is_candidate)
        standing = (each for each in stored if each.event_id not in self.replaced)
        new = (
            each
            for each in self.endings
            if each.subject in subjects and after < each.said_at <= until and is_candidate(each)
        )
        return merge(standing, sorted(new, key=place_of_ending), key=place_of_ending)

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


def place_of_ending(row: StatedEnding) -> tuple[int, str, int]:
    """Return the place of a sentence among all that may end something, in the order of time."""
    return row.said_at, row.event_id, row.position


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
