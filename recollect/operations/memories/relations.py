"""What facts are to other facts: which one updates, extends or derives from which (C9).

What a message says of its own facts was decided with it and is a row. What takes the place of what,
and which value a slot gained, follows from the rows of the slots, in whatever order they were
learnt; it is worked out here and is stored nowhere else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

import apsw

from recollect.projections.identity.entities_for_recall import canonical_ids
from recollect.projections.identity.entity_list import merged_entities
from recollect.projections.memory import relation_list
from recollect.projections.memory.relation_list import SlotValue
from recollect.schemas.attributes import is_single_valued
from recollect.schemas.names import normalise_name
from recollect.schemas.wire import Relation
from recollect.streams.language.relations.further_values import ToldValues
from recollect.streams.language.statements.occasions import without_occasion

#: A supersession says that a fact has taken the place of another.
_UPDATES = 1.0
#: How sure it is that a value of the same slot adds to one before.
_OF_SLOT = 0.8
#: So many values before it are looked at, under each id of whom they are said of.
_LOOKED_THROUGH = 32
#: What tells more of a slot than a fact that only names its value.
_TELLS_MORE_OF = {"housing": "home"}

_Type = Literal["UPDATES", "EXTENDS", "DERIVES"]


class Relations:
    """What facts of a zone are to each other, by its memory and by who is who."""

    def __init__(self, memory: apsw.Connection, identity: apsw.Connection) -> None:
        self._memory = memory
        self._identity = identity
        self._values = ToldValues()

    def of(self, fact_ids: Sequence[str]) -> dict[str, list[Relation]]:
        """Return fact -> what it is to others, for those of these facts that are anything.

        A fact that updates another adds to none, and to each other fact it is one thing alone.
        """
        found: dict[str, dict[str, Relation]] = defaultdict(dict)

        def note(fact: str, type_: _Type, target: str, confidence: float) -> None:
            before = found[fact].get(target)
            if before is None or (before.type == type_ and before.confidence < confidence):
                relation = Relation(type=type_, fact_id=target, confidence=confidence)
                found[fact][target] = relation

        for fact, target in relation_list.superseded_pairs(self._memory, fact_ids):
            note(fact, "UPDATES", target, _UPDATES)
        updating = frozenset(found)
        stated = relation_list.stated_relations(self._memory, fact_ids)
        for each in stated:
            if each.relation == "DERIVES":
                note(each.fact_id, "DERIVES", each.target_fact_id, each.confidence)
        for each in stated:
            if each.relation == "EXTENDS" and each.fact_id not in updating:
                note(each.fact_id, "EXTENDS", each.target_fact_id, each.confidence)
        values = relation_list.values_of(self._memory, fact_ids)
        under = self._under({each.subject for each in values})
        for value in values:
            before = None if value.fact_id in updating else self._before(value, under)
            if before is not None:
                note(value.fact_id, "EXTENDS", before, _OF_SLOT)
        return {
            fact: sorted(relations.values(), key=lambda one: (one.type, one.fact_id))
            for fact, relations in found.items()
        }

    def to(self, fact_id: str) -> Iterator[tuple[str, Relation]]:
        """Yield the facts that extend a fact or derive from it, each with what it is to that."""
        later = set(relation_list.facts_relating_to(self._memory, fact_id))
        for value in relation_list.values_of(self._memory, [fact_id]):
            for subject in self._under({value.subject})[value.subject]:
                for attribute in (value.attribute, *_told_more_by(value.attribute)):
                    later.update(
                        relation_list.facts_after(
                            self._memory, subject, attribute, value.as_of, _LOOKED_THROUGH
                        )
                    )
        for fact, relations in sorted(self.of(sorted(later)).items()):
            for relation in relations:
                if relation.fact_id == fact_id and relation.type != "UPDATES":
                    yield fact, relation

    def _under(self, subjects: set[str]) -> dict[str, list[str]]:
        """Return subject -> the ids under which claims about the same one may stand."""
        standing = canonical_ids(self._identity, sorted(subjects))
        ids: dict[str, set[str]] = {id_: {id_} for id_ in standing.values()}
        for into, id_, _ in merged_entities(self._identity, sorted(ids)):
            ids[into].add(id_)
        return {
            each: sorted(ids[standing[each]] if each in standing else {each}) for each in subjects
        }

    def _before(self, value: SlotValue, under: dict[str, list[str]]) -> str | None:
        """Return the fact to which one adds a value of its slot, or tells more of its value."""

        def held(attribute: str) -> list[SlotValue]:
            found = [
                each
                for subject in under[value.subject]
                for each in relation_list.values_before(
                    self._memory, subject, attribute, value.as_of, _LOOKED_THROUGH
                )
            ]
            return sorted(found, key=lambda each: (each.as_of, each.fact_id), reverse=True)

        is_told = self._values.is_told
        less = _TELLS_MORE_OF.get(value.attribute)
        for each in held(less) if less is not None else ():
            if is_told(each.value, value.value) and not is_told(value.value, each.value):
                return each.fact_id
        earlier = held(value.attribute)
        return (self._told_more if is_single_valued(value.attribute) else self._gained)(
            value, earlier
        )

    def _told_more(self, value: SlotValue, earlier: Sequence[SlotValue]) -> str | None:
        """Return the fact of the same value that one repeats in full with more words, or None."""
        is_told, same = self._values.is_told, normalise_name(value.value)
        alike = [
            (each.fact_id, without_occasion(each.text))
            for each in earlier
            if normalise_name(each.value) == same
        ]
        text = without_occasion(value.text)
        if any(is_told(text, known) for _, known in alike):
            return None
        return next((fact for fact, known in alike if is_told(known, text)), None)

    def _gained(self, value: SlotValue, earlier: Sequence[SlotValue]) -> str | None:
        """Return the fact beside whose value one is a further one: of several the one that shares
        most words with it, and of these the latest. None where its value was there before.
        """
        values = self._values
        if not earlier or any(values.is_told(value.value, each.value) for each in earlier):
            return None
        return max(earlier, key=lambda each: values.shared(value.value, each.value)).fact_id


def _told_more_by(attribute: str) -> list[str]:
    return [more for more, less in _TELLS_MORE_OF.items() if less == attribute]
