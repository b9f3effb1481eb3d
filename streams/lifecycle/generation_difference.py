"""The difference between two generations of a zone: facts, entities, observations, models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Literal

import apsw

from recollect.projections.events.turns_for_recall import source_ids
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entity_queries import (
    MentionSpan,
    all_mentions,
    canonical,
    entity_at,
)
from recollect.projections.memory.listing.fact_list import GenerationFact, facts_by_event
from recollect.projections.memory.mental_model_queries import current_model_texts
from recollect.projections.memory.observation_queries import standing_texts
from recollect.schemas.wire import (
    ChangedFact,
    EntityDiff,
    FactDiff,
    GenerationDiff,
    TextCounts,
    TextDiff,
)
from recollect.text.tokenizer import tokenise

#: The maximum number of items listed per kind; all are counted.
MAX_LISTED = 100
#: Two facts of one event count as one reworded fact if their words are this similar (Jaccard).
_MIN_WORD_OVERLAP = 0.5


def difference(old: ZoneFiles, new: ZoneFiles) -> GenerationDiff:
    """Return what the new generation gained, lost and changed.

    Facts are compared event by event: first by id (a hash of the event and the text), then by
    shared words. An old entity is split if its mentions refer to several entities in the new
    generation. A new entity is joined if its mentions referred to several entities in the old one.
    Observations are compared by their topics, and mental models by name and entity.
    """
    fact_diff = _FactDiff(_source_ids_in(old.events.connection))
    for event, facts, others in _merge_by_event(old.memory.connection, new.memory.connection):
        fact_diff.compare(event, facts, others)
    split, joined = _entities(old.identity.connection, new.identity.connection)
    texts: list[TextDiff] = []
    before, after = old.memory.connection, new.memory.connection
    observations = _compare_texts(
        "observation", standing_texts(before), standing_texts(after), texts
    )
    models = _compare_texts(
        "mental_model", current_model_texts(before), current_model_texts(after), texts
    )
    return GenerationDiff(
        facts_same=fact_diff.same,
        facts_gained=fact_diff.counts["gained"],
        facts_lost=fact_diff.counts["lost"],
        facts_changed=fact_diff.counts["changed"],
        entities_split=len(split),
        entities_joined=len(joined),
        observations=observations,
        mental_models=models,
        texts=texts,
        gained=fact_diff.gained,
        lost=fact_diff.lost,
        changed=fact_diff.changed,
        split=split[:MAX_LISTED],
        joined=joined[:MAX_LISTED],
    )


def _compare_texts(
    kind: Literal["observation", "mental_model"],
    old: Mapping[str, str],
    new: Mapping[str, str],
    listed: list[TextDiff],
) -> TextCounts:
    """Count the texts, by key, that two sides have in common or not; list the first that differ."""
    differ = [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]
    for key in differ[:MAX_LISTED]:
        listed.append(TextDiff(kind=kind, before=old.get(key), after=new.get(key)))
    common = len(old.keys() & new.keys())
    changed = sum(key in old and key in new for key in differ)
    return TextCounts(
        same=common - changed,
        gained=len(new) - common,
        lost=len(old) - common,
        changed=changed,
    )


class _FactDiff:
    """Collects the facts that differ."""

    def __init__(self, source_id: Callable[[str], str]) -> None:
        self._source_id = source_id
        self.same = 0
        self.counts: dict[str, int] = defaultdict(int)
        self.gained: list[FactDiff] = []
        self.lost: list[FactDiff] = []
        self.changed: list[ChangedFact] = []

    def compare(
        self, event: str, before: dict[str, GenerationFact], after: dict[str, GenerationFact]
    ) -> None:
        """Compare the facts of one event, given as id -> fact."""
        for id_ in before.keys() & after.keys():
            if before[id_] == after[id_]:
                self.same += 1
            else:
                self._change(event, id_, before[id_], id_, after[id_])
        lost = {id_: fact for id_, fact in sorted(before.items()) if id_ not in after}
        gained = {id_: fact for id_, fact in sorted(after.items()) if id_ not in before}
        for old, new in _pair_reworded(lost, gained):
            self._change(event, old, lost.pop(old), new, gained.pop(new))
        for kind, facts, listed in (("lost", lost, self.lost), ("gained", gained, self.gained)):
            for id_, fact in facts.items():
                self.counts[kind] += 1
                if len(listed) < MAX_LISTED:
                    source = self._source_id(event)
                    listed.append(FactDiff(id=id_, text=fact.text, source_event_id=source))

    def _change(
        self, event: str, old_id: str, old: GenerationFact, new_id: str, new: GenerationFact
    ) -> None:
        self.counts["changed"] += 1
        if len(self.changed) < MAX_LISTED:
            self.changed.append(
                ChangedFact(
                    id=new_id,
                    before_id=old_id,
                    before=old.text,
                    after=new.text,
                    changed_fields=[
                        name
                        for name, before, after in (
                            ("text", old.text, new.text),
                            ("slot", old.slot, new.slot),
                            ("current", old.current, new.current),
                        )
                        if before != after
                    ],
                    source_event_id=self._source_id(event),
                )
            )


def _pair_reworded(
    left: dict[str, GenerationFact], right: dict[str, GenerationFact]
) -> Iterator[tuple[str, str]]:
    """Yield (old id, new id) of facts that are rewordings of each other, the most similar first."""
    if not left or not right:
        return
    words = {id_: set(tokenise(fact.text).lowers) for id_, fact in (left | right).items()}
    overlaps = sorted(
        (
            (
                len(words[old_id] & words[new_id]) / len(words[old_id] | words[new_id] or {""}),
                old_id,
                new_id,
            )
            for old_id in left
            for new_id in right
        ),
        key=lambda item: (-item[0], item[1], item[2]),
    )
    paired: set[str] = set()
    for overlap, old_id, new_id in overlaps:
        if overlap >= _MIN_WORD_OVERLAP and old_id not in paired and new_id not in paired:
            paired |= {old_id, new_id}
            yield old_id, new_id


def _merge_by_event(
    old: apsw.Connection, new: apsw.Connection
) -> Iterator[tuple[str, dict[str, GenerationFact], dict[str, GenerationFact]]]:
    """Yield (event, its old facts, its new facts) for all events with facts."""
    old_events, new_events = _facts_by_event(old), _facts_by_event(new)
    old_entry, new_entry = next(old_events, None), next(new_events, None)
    while old_entry is not None or new_entry is not None:
        if new_entry is None or (old_entry is not None and old_entry[0] < new_entry[0]):
            assert old_entry is not None
            yield old_entry[0], old_entry[1], {}
            old_entry = next(old_events, None)
        elif old_entry is None or new_entry[0] < old_entry[0]:
            yield new_entry[0], {}, new_entry[1]
            new_entry = next(new_events, None)
        else:
            yield old_entry[0], old_entry[1], new_entry[1]
            old_entry, new_entry = next(old_events, None), next(new_events, None)


def _facts_by_event(connection: apsw.Connection) -> Iterator[tuple[str, dict[str, GenerationFact]]]:
    for event, facts in groupby(facts_by_event(connection), key=lambda fact: fact.event_id):
        yield event, {fact.id: fact for fact in facts}


def _entities(
    old: apsw.Connection, new: apsw.Connection
) -> tuple[list[EntityDiff], list[EntityDiff]]:
    """Return the split and the joined entities, sorted by name."""
    before, after = _MentionIndex(old), _MentionIndex(new)
    new_of_old: dict[str, set[str]] = defaultdict(set)
    old_of_new: dict[str, set[str]] = defaultdict(set)
    for mention, old_id in before.mentions():
        new_id = after.at(mention)
        if new_id is not None:
            new_of_old[old_id].add(new_id)
            old_of_new[new_id].add(old_id)
    split = [
        EntityDiff(name=before.name(old_id), names=sorted(map(after.name, new_ids)))
        for old_id, new_ids in new_of_old.items()
        if len(new_ids) > 1
    ]
    joined = [
        EntityDiff(name=after.name(new_id), names=sorted(map(before.name, old_ids)))
        for new_id, old_ids in old_of_new.items()
        if len(old_ids) > 1
    ]
    return sorted(split, key=_sort_key), sorted(joined, key=_sort_key)


def _sort_key(entity: EntityDiff) -> tuple[str, list[str]]:
    return entity.name, entity.names


class _MentionIndex:
    """The entities of a generation by mention."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._canonical_by_id: dict[str, tuple[str, str]] = {}

    def mentions(self) -> Iterator[tuple[MentionSpan, str]]:
        """Yield each unambiguous mention with the id of its entity."""
        for mention, entity in all_mentions(self._connection):
            yield mention, self._canonical(entity)[0]

    def at(self, mention: MentionSpan) -> str | None:
        """Return the id of a mention's entity; None if it has none or several."""
        entity = entity_at(self._connection, mention)
        return None if entity is None else self._canonical(entity)[0]

    def name(self, entity: str) -> str:
        """Return the name of an entity, given by its id."""
        return self._canonical(entity)[1]

    def _canonical(self, entity: str) -> tuple[str, str]:
        if entity not in self._canonical_by_id:
            merged_into = canonical(self._connection, entity)
            self._canonical_by_id[entity] = (
                (entity, entity) if merged_into is None else (merged_into.id, merged_into.name)
            )
        return self._canonical_by_id[entity]


def _source_ids_in(events: apsw.Connection) -> Callable[[str], str]:
    return lambda event: source_ids(events, [event]).get(event, event)
