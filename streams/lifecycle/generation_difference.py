"""What two generations of a zone conclude differently, in terms of facts and entities (E3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import groupby

import apsw

from recollect.projections.events.turns_for_recall import source_ids
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entity_queries import (
    Place,
    canonical,
    meant_at,
    meant_everywhere,
)
from recollect.projections.memory.fact_list import FactAsHeld, facts_by_event
from recollect.schemas.wire import ChangedFact, EntityDiff, FactDiff, GenerationDiff
from recollect.text.tokenizer import tokenise

#: So many of each are named; all are counted.
MAX_LISTED = 100
#: Two facts of one event that share so many of their words are one fact in other words.
_SHARED = 0.5


def difference(old: ZoneFiles, new: ZoneFiles) -> GenerationDiff:
    """Return what the new generation has gained, lost and changed against the old one.

    Facts are compared event by event: by their ids, which follow from the event and the words, and
    those that are left by the words they share. An entity is split where what was mentioned as one
    is two in the new generation, and joined where two are one.
    """
    found = _Found(_source_ids_in(old.events.connection))
    for event, before, after in _by_event(old.memory.connection, new.memory.connection):
        found.compare(event, before, after)
    split, joined = _entities(old.identity.connection, new.identity.connection)
    return GenerationDiff(
        facts_same=found.same,
        facts_gained=found.counts["gained"],
        facts_lost=found.counts["lost"],
        facts_changed=found.counts["changed"],
        entities_split=len(split),
        entities_joined=len(joined),
        gained=found.gained,
        lost=found.lost,
        changed=found.changed,
        split=split[:MAX_LISTED],
        joined=joined[:MAX_LISTED],
    )


class _Found:
    """The facts that differ, as they are found."""

    def __init__(self, source_id: Callable[[str], str]) -> None:
        self._source_id = source_id
        self.same = 0
        self.counts: dict[str, int] = defaultdict(int)
        self.gained: list[FactDiff] = []
        self.lost: list[FactDiff] = []
        self.changed: list[ChangedFact] = []

    def compare(
        self, event: str, before: dict[str, FactAsHeld], after: dict[str, FactAsHeld]
    ) -> None:
        """Compare the facts of one event, given by their ids."""
        for id_ in before.keys() & after.keys():
            if before[id_] == after[id_]:
                self.same += 1
            else:
                self._change(event, id_, before[id_], id_, after[id_])
        left = {id_: fact for id_, fact in sorted(before.items()) if id_ not in after}
        right = {id_: fact for id_, fact in sorted(after.items()) if id_ not in before}
        for old, new in _paired(left, right):
            self._change(event, old, left.pop(old), new, right.pop(new))
        for kind, rest, named in (("lost", left, self.lost), ("gained", right, self.gained)):
            for id_, fact in rest.items():
                self.counts[kind] += 1
                if len(named) < MAX_LISTED:
                    source = self._source_id(event)
                    named.append(FactDiff(id=id_, text=fact.text, source_event_id=source))

    def _change(self, event: str, old: str, was: FactAsHeld, new: str, is_: FactAsHeld) -> None:
        self.counts["changed"] += 1
        if len(self.changed) < MAX_LISTED:
            self.changed.append(
                ChangedFact(
                    id=new,
                    before_id=old,
                    before=was.text,
                    after=is_.text,
                    changed_fields=[
                        name
                        for name, one, other in (
                            ("text", was.text, is_.text),
                            ("slot", was.slot, is_.slot),
                            ("current", was.current, is_.current),
                        )
                        if one != other
                    ],
                    source_event_id=self._source_id(event),
                )
            )


def _paired(left: dict[str, FactAsHeld], right: dict[str, FactAsHeld]) -> Iterator[tuple[str, str]]:
    """Yield the ids of facts that are one in other words, those that share most first."""
    if not left or not right:
        return
    words = {id_: set(tokenise(fact.text).lowers) for id_, fact in (left | right).items()}
    shares = sorted(
        (
            (len(words[one] & words[other]) / len(words[one] | words[other] or {""}), one, other)
            for one in left
            for other in right
        ),
        key=lambda item: (-item[0], item[1], item[2]),
    )
    taken: set[str] = set()
    for share, one, other in shares:
        if share >= _SHARED and one not in taken and other not in taken:
            taken |= {one, other}
            yield one, other


def _by_event(
    old: apsw.Connection, new: apsw.Connection
) -> Iterator[tuple[str, dict[str, FactAsHeld], dict[str, FactAsHeld]]]:
    """Yield (event, its facts in the old state, those in the new) of events that have any."""
    ours, theirs = _grouped(old), _grouped(new)
    one, other = next(ours, None), next(theirs, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            yield one[0], one[1], {}
            one = next(ours, None)
        elif one is None or other[0] < one[0]:
            yield other[0], {}, other[1]
            other = next(theirs, None)
        else:
            yield one[0], one[1], other[1]
            one, other = next(ours, None), next(theirs, None)


def _grouped(connection: apsw.Connection) -> Iterator[tuple[str, dict[str, FactAsHeld]]]:
    for event, facts in groupby(facts_by_event(connection), key=lambda fact: fact.event_id):
        yield event, {fact.id: fact for fact in facts}


def _entities(
    old: apsw.Connection, new: apsw.Connection
) -> tuple[list[EntityDiff], list[EntityDiff]]:
    """Return the entities that are split, and those that are joined, by name."""
    before, after = _Meant(old), _Meant(new)
    onward: dict[str, set[str]] = defaultdict(set)
    back: dict[str, set[str]] = defaultdict(set)
    for place, one in before.places():
        other = after.at(place)
        if other is not None:
            onward[one].add(other)
            back[other].add(one)
    split = [
        EntityDiff(name=before.name(one), names=sorted(map(after.name, others)))
        for one, others in onward.items()
        if len(others) > 1
    ]
    joined = [
        EntityDiff(name=after.name(other), names=sorted(map(before.name, ones)))
        for other, ones in back.items()
        if len(ones) > 1
    ]
    return sorted(split, key=_named), sorted(joined, key=_named)


def _named(entity: EntityDiff) -> tuple[str, list[str]]:
    return entity.name, entity.names


class _Meant:
    """Who or what is meant in a generation, at each place."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._ends: dict[str, tuple[str, str]] = {}

    def places(self) -> Iterator[tuple[Place, str]]:
        """Yield each place with the id of the entity that is meant there, where it is one."""
        for place, entity in meant_everywhere(self._connection):
            yield place, self._end(entity)[0]

    def at(self, place: Place) -> str | None:
        """Return the id of the entity that is meant at a place; None: none, or several."""
        entity = meant_at(self._connection, place)
        return None if entity is None else self._end(entity)[0]

    def name(self, entity: str) -> str:
        """Return the name of an entity, given by its id."""
        return self._end(entity)[1]

    def _end(self, entity: str) -> tuple[str, str]:
        if entity not in self._ends:
            end = canonical(self._connection, entity)
            self._ends[entity] = (entity, entity) if end is None else (end.id, end.name)
        return self._ends[entity]


def _source_ids_in(events: apsw.Connection) -> Callable[[str], str]:
    return lambda event: source_ids(events, [event]).get(event, event)
