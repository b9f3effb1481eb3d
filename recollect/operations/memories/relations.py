"""Relations between facts: which one updates, extends or derives from which.

Relations stated within a message were decided with it and are stored as rows. Supersessions, and
further values of a slot, follow from the rows of the slots, whatever the order of arrival; they are
computed here and not stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import apsw

from recollect.projections.identity.entities_for_recall import canonical_ids
from recollect.projections.identity.entity_list import merged_entities
from recollect.projections.memory.listing import relation_list
from recollect.projections.memory.listing.relation_list import SlotValue
from recollect.schemas.attributes import is_single_valued
from recollect.schemas.names import normalise_name
from recollect.schemas.wire import Relation
from recollect.streams.language.relations.further_values import ToldValues

# Confidences of a supersession, and of a value that adds to an earlier one of its slot.
_UPDATES_CONFIDENCE = 1.0
_EXTENDS_CONFIDENCE = 0.8
# The number of earlier or later values examined for each id of the subject.
_MAX_VALUES = 32
# Attributes whose values add detail to those of another attribute.
_DETAIL_OF = {"housing": "home"}

_Type = Literal["UPDATES", "EXTENDS", "DERIVES"]


class Relations:
    """The relations between the facts of a zone, with merged entities taken as one."""

    def __init__(self, memory: apsw.Connection, identity: apsw.Connection) -> None:
        self._memory = memory
        self._identity = identity
        self._values = ToldValues()

    def outgoing(self, fact_ids: Sequence[str]) -> dict[str, list[Relation]]:
        """Return the relations of facts to other facts, by fact; facts without any are left out.

        A fact that updates a fact extends none. It has at most one relation to each other fact.
        """
        by_fact: dict[str, dict[str, Relation]] = defaultdict(dict)

        def note(fact: str, type_: _Type, target: str, confidence: float) -> None:
            before = by_fact[fact].get(target)
            if before is None or (before.type == type_ and before.confidence < confidence):
                relation = Relation(type=type_, fact_id=target, confidence=confidence)
                by_fact[fact][target] = relation

        for fact, target in relation_list.superseded_pairs(self._memory, fact_ids):
            note(fact, "UPDATES", target, _UPDATES_CONFIDENCE)
        updating = frozenset(by_fact)
        stated = relation_list.stated_relations(self._memory, fact_ids)
        for row in stated:
            if row.relation == "DERIVES":
                note(row.fact_id, "DERIVES", row.target_fact_id, row.confidence)
        for row in stated:
            if row.relation == "EXTENDS" and row.fact_id not in updating:
                note(row.fact_id, "EXTENDS", row.target_fact_id, row.confidence)
        values = relation_list.values_of(self._memory, fact_ids)
        ids = self._subject_ids({value.subject for value in values})
        for value in values:
            extended = None if value.fact_id in updating else self._extended_fact(value, ids)
            if extended is not None:
                note(value.fact_id, "EXTENDS", extended, _EXTENDS_CONFIDENCE)
        return {
            fact: sorted(relations.values(), key=lambda one: (one.type, one.fact_id))
            for fact, relations in by_fact.items()
        }

    def incoming(self, fact_id: str) -> Iterator[tuple[str, Relation]]:
        """Yield the facts that extend a fact or derive from it, each with its relation."""
        later = set(relation_list.facts_relating_to(self._memory, fact_id))
        for value in relation_list.values_of(self._memory, [fact_id]):
            for subject in self._subject_ids({value.subject})[value.subject]:
                for attribute in (value.attribute, *_detail_attributes(value.attribute)):
                    later.update(
                        relation_list.facts_after(
                            self._memory, subject, attribute, value.as_of, _MAX_VALUES
                        )
                    )
        for fact, relations in sorted(self.outgoing(sorted(later)).items()):
            for relation in relations:
                if relation.fact_id == fact_id and relation.type != "UPDATES":
                    yield fact, relation

    def _subject_ids(self, subjects: set[str]) -> dict[str, list[str]]:
        """Return, for each subject, all ids that its claims may be stored under, after merges."""
        canonical = canonical_ids(self._identity, sorted(subjects))
        ids: dict[str, set[str]] = {id_: {id_} for id_ in canonical.values()}
        for into, id_, _ in merged_entities(self._identity, sorted(ids)):
            ids[into].add(id_)
        return {
            each: sorted(ids[canonical[each]] if each in canonical else {each}) for each in subjects
        }

    def _extended_fact(self, value: SlotValue, ids: dict[str, list[str]]) -> str | None:
        """Return the earlier fact that this one extends with a further value or more detail."""

        def earlier_values(attribute: str) -> list[SlotValue]:
            found = [
                each
                for subject in ids[value.subject]
                for each in relation_list.values_before(
                    self._memory, subject, attribute, value.as_of, _MAX_VALUES
                )
            ]
            return sorted(found, key=lambda each: (each.as_of, each.fact_id), reverse=True)

        is_covered = self._values.is_told
        detailed = _DETAIL_OF.get(value.attribute)
        for candidate in earlier_values(detailed) if detailed is not None else ():
            if is_covered(candidate.value, value.value) and not is_covered(
                value.value, candidate.value
            ):
                return candidate.fact_id
        earlier = earlier_values(value.attribute)
        find_extended = (
            self._with_less_detail if is_single_valued(value.attribute) else self._with_other_value
        )
        return find_extended(value, earlier)

    def _with_less_detail(self, value: SlotValue, earlier: Sequence[SlotValue]) -> str | None:
        """Return an earlier fact with the same value whose text is part of this fact's text."""
        is_covered, normalised = self._values.is_told, normalise_name(value.value)
        same_value = [
            (value_.fact_id, value_.text)
            for value_ in earlier
            if normalise_name(value_.value) == normalised
        ]
        text = value.text
        if any(is_covered(text, known) for _, known in same_value):
            return None
        return next((fact for fact, known in same_value if is_covered(known, text)), None)

    def _with_other_value(self, value: SlotValue, earlier: Sequence[SlotValue]) -> str | None:
        """Return the earlier fact whose value shares the most words with a new value of its slot.

        If several do, return the latest. None if the value is not new, or is the slot's first.
        """
        values = self._values
        if not earlier or any(values.is_told(value.value, each.value) for each in earlier):
            return None
        return max(earlier, key=lambda each: values.shared(value.value, each.value)).fact_id


def _detail_attributes(attribute: str) -> list[str]:
    """Return the attributes that add detail to the given one."""
    return [more for more, less in _DETAIL_OF.items() if less == attribute]
