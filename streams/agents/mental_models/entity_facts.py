"""The `EntityFact` rows: what is known about an entity, updated by every decision on its facts.

A page about an entity reads only these rows, under one lookup key. So a decision that changes
whether a fact is current writes the fact's rows again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    EntityChange,
    EntityFact,
    Fact,
    FactClaim,
    FactDays,
    FactEntity,
    FactMerge,
    FactOccasion,
    FactSupersession,
    Mention,
    Merge,
    MergedSupersession,
    MergeUndo,
    RetractedFact,
    Row,
    WithdrawnSupersession,
)
from recollect.schemas.events import Event
from recollect.streams.agents.memories.memory_versions import is_private
from recollect.streams.agents.state import State, changes_validity
from recollect.text.lexicon import PRONOUNS

RowType = TypeVar("RowType", bound=Row)

#: Types of mentions that name somebody or something.
_NAMED = frozenset({"PERSON", "ORG", "LOCATION", "PRODUCT", "TECHNOLOGY", "EVENT", "OTHER"})
#: Further rows about a fact.
_ABOUT_FACTS = (FactDays, FactClaim, FactEntity, Mention)
_json = msgspec.json.Encoder()
_numbers = msgspec.json.Decoder(list[int])


def entity_fact_parts(
    event: Event, decided: Sequence[DecidedPart], state: State
) -> Iterator[DecidedPart]:
    """Yield the rows by which the decisions on a record change what is known about entities."""
    rows = [row for part in decided for row in part.puts]
    decisions = _Decisions(rows, state)
    new = {row.id for row in rows if isinstance(row, Fact)}
    for part in decided:
        for fact in part.puts:
            if isinstance(fact, Fact) and not is_private(event):
                yield DecidedPart(part.sources, [*_new_rows(fact, part.sources, event, decisions)])
    for fact_id in sorted(_changed_facts(rows, decisions) - new):
        for row in state.entity_facts_of(fact_id):
            changed = decisions.updated(row, event.number)
            if changed != row:
                sources = {event.number, *_numbers.decode(row.sources)}
                yield DecidedPart(tuple(sorted(sources)), [changed])
    merged = sorted(_merged_entities(rows, state))
    if merged:
        changes = [EntityChange(entity_id, event.number) for entity_id in merged]
        yield DecidedPart((event.number,), [*changes])


def _new_rows(
    fact: Fact, sources: tuple[int, ...], event: Event, decisions: _Decisions
) -> Iterator[EntityFact]:
    """Yield the rows of a new fact."""
    mentions = decisions.mentions(fact)
    claim = decisions.last(FactClaim, fact.id)
    speaker = next((name for _, name in mentions if fact.text.startswith(f"{name}: ")), "")
    for entity_id in decisions.entities(fact.id):
        is_own = claim is not None and claim.subject == entity_id
        own = [name for id_, name in mentions if id_ == entity_id]
        beside = dict.fromkeys(
            (id_, name)
            for id_, name in mentions
            if id_ != entity_id and name != speaker and name in fact.text
        )
        row = EntityFact(
            entity_id=entity_id,
            fact_id=fact.id,
            event_id=fact.source_event_id,
            sources=_json.encode(sources).decode(),
            text=fact.text,
            name=own[0] if own else "",
            speaker=speaker,
            said_at=fact.as_of,
            first_day=None,
            last_day=None,
            attribute=claim.attribute if claim is not None and is_own else "",
            value=claim.value if claim is not None and is_own else "",
            beside=_json.encode(list(beside)).decode(),
            ended_at=None,
            is_told=1,
            number=event.number,
        )
        yield decisions.updated(row, event.number)


def _changed_facts(rows: Iterable[AnyRow], decisions: _Decisions) -> set[str]:
    """Return the facts that these rows may end, restore or date."""
    found: set[str] = set()
    for row in rows:
        if changes_validity(row) or isinstance(row, FactDays):
            found.add(row.fact_id)
        # A fact that was never true supersedes nothing; the end of its own truth counts instead.
        if (isinstance(row, RetractedFact) and decisions.changes_truth(row)) or (
            isinstance(row, FactSupersession) and decisions.is_void(row.fact_id)
        ):
            found.update(decisions.others_of_slot(row.fact_id))
    return found


def _merged_entities(rows: Iterable[AnyRow], state: State) -> set[str]:
    found: set[str] = set()
    for row in rows:
        if isinstance(row, Merge):
            found.update((row.winner_id, row.loser_id))
        elif isinstance(row, MergeUndo):
            found.update(state.merged_pair(row.merge_id) or ())
    return found


class _Validity(NamedTuple):
    """When a fact ceased to be true (unix ms), and whether it is stated and not merged."""

    ended_at: int | None
    is_told: bool


class _Decisions:
    """The state with the rows that were decided for a record."""

    def __init__(self, rows: Sequence[AnyRow], state: State) -> None:
        self._state = state
        self._validities: dict[str, _Validity] = {}
        self._by_fact: dict[tuple[type[Row], str], list[AnyRow]] = {}
        for row in rows:
            if changes_validity(row) or isinstance(row, _ABOUT_FACTS):
                self._by_fact.setdefault((type(row), row.fact_id), []).append(row)

    def of_fact(self, kind: type[RowType], fact_id: str) -> list[RowType]:
        """Return the decided rows of a kind about a fact."""
        return [row for row in self._by_fact.get((kind, fact_id), ()) if isinstance(row, kind)]

    def last(self, kind: type[RowType], fact_id: str) -> RowType | None:
        """Return the last decided row of a kind about a fact."""
        found = self.of_fact(kind, fact_id)
        return found[-1] if found else None

    def entities(self, fact_id: str) -> list[str]:
        """Return the ids of the entities that a new fact is about, sorted."""
        return sorted({row.entity_id for row in self.of_fact(FactEntity, fact_id)})

    def mentions(self, fact: Fact) -> list[tuple[str, str]]:
        """Return (entity, name) of the names in a new fact, in order."""
        return [
            (row.entity_id, row.mention_text)
            for row in sorted(
                self.of_fact(Mention, fact.id),
                key=lambda row: (row.char_offset_start, row.entity_id),
            )
            if row.entity_id
            and row.mention_type in _NAMED
            and row.mention_text.lower() not in PRONOUNS
            and (row.char_offset_start < 0 or row.mention_text in fact.text)
        ]

    def is_void(self, fact_id: str) -> bool:
        """Return whether a fact was never true."""
        return any(map(_is_void, self._retractions(fact_id)))

    def changes_truth(self, row: RetractedFact) -> bool:
        """Return whether a retraction says that a fact was never true, or no longer says so."""
        before = any(
            _is_void(known)
            for known in self._state.retractions_of_fact(row.fact_id)
            if known.target_id == row.target_id
        )
        return _is_void(row) != before

    def others_of_slot(self, fact_id: str) -> set[str]:
        """Return the ids of the facts that may be superseded by a fact."""
        return {
            other.fact_id
            for row in self._state.entity_facts_of(fact_id)
            if row.attribute
            for entity_id in self._state.group_of(row.entity_id)
            for other in self._state.facts_of_slot(entity_id, row.attribute)
        }

    def updated(self, row: EntityFact, number: int) -> EntityFact:
        """Return a fact's row as the decided rows change it."""
        validity = self._validity(row)
        days = self.last(FactDays, row.fact_id)
        changed = msgspec.structs.replace(
            row,
            first_day=row.first_day if days is None else days.first_day,
            last_day=row.last_day if days is None else days.last_day,
            ended_at=validity.ended_at,
            is_told=int(validity.is_told),
        )
        return row if changed == row else msgspec.structs.replace(changed, number=number)

    def _validity(self, row: EntityFact) -> _Validity:
        """Return the validity of a fact, which is the same for all of its entities."""
        if row.fact_id not in self._validities:
            self._validities[row.fact_id] = self._decided_validity(row)
        return self._validities[row.fact_id]

    def _decided_validity(self, row: EntityFact) -> _Validity:
        retracted = [
            retraction for retraction in self._retractions(row.fact_id) if retraction.is_standing
        ]
        ends = [
            self._superseded_at(row.fact_id),
            *(retraction.invalid_at for retraction in retracted),
        ]
        merged = self.last(MergedSupersession, row.fact_id)
        merged = merged or self._state.merged_supersession(row.fact_id)
        if merged is not None and merged.is_standing:
            ends.append(merged.invalid_at)
        occasions = {occasion.event_id: occasion for occasion in self._state.occasions(row.fact_id)}
        occasions |= {
            occasion.event_id: occasion for occasion in self.of_fact(FactOccasion, row.fact_id)
        }
        withdrawn = {id_ for id_, occasion in occasions.items() if not occasion.is_standing}
        is_stated = row.event_id not in withdrawn or withdrawn != occasions.keys()
        is_void = any(retraction.is_void for retraction in retracted)
        return _Validity(
            min((end for end in ends if end is not None), default=None),
            is_stated and not is_void and not self._is_merged(row.fact_id),
        )

    def _is_merged(self, fact_id: str) -> bool:
        decided = self.last(FactMerge, fact_id)
        return self._state.is_merged_fact(fact_id) if decided is None else bool(decided.is_standing)

    def _superseded_at(self, fact_id: str) -> int | None:
        """Return when a fact was superseded; a fact that was never true supersedes nothing."""
        seen: set[str] = set()
        while fact_id not in seen:
            seen.add(fact_id)
            ends = self._supersession(fact_id)
            if ends is None:
                return None
            fact_id, at = ends
            if not self.is_void(fact_id):
                return at
        return None

    def _supersession(self, fact_id: str) -> tuple[str, int] | None:
        """Return (id of what superseded a fact, when in unix ms), or None."""
        own = self.last(FactSupersession, fact_id)
        if own is not None:
            return own.superseded_by, own.invalid_at
        if self.last(WithdrawnSupersession, fact_id) is not None:
            return None
        return self._state.supersession(fact_id)

    def _retractions(self, fact_id: str) -> Iterable[RetractedFact]:
        found: Mapping[str, RetractedFact] = {
            **{each.target_id: each for each in self._state.retractions_of_fact(fact_id)},
            **{each.target_id: each for each in self.of_fact(RetractedFact, fact_id)},
        }
        return found.values()


def _is_void(row: RetractedFact) -> bool:
    """Return whether a retraction says that a fact was never true."""
    return bool(row.is_void and row.is_standing)
