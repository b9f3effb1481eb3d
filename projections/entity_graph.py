"""The relationship graph of a zone's entities: neighbourhoods and paths of several hops.

A node is an entity after merges; an edge is a relationship of one type in one direction, with the
facts that state it. A traversal makes one query per hop, for the neighbours of all entities just
reached, so it reads each relationship at most twice, however many paths contain it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

import apsw

from recollect.projections.identity.entity_list import direct_merges, directly_merged
from recollect.projections.memory import relationship_queries
from recollect.projections.memory.relationship_queries import (
    CURRENT,
    Direction,
    Evidence,
    RelationshipFilter,
)
from recollect.schemas.choices import RelationshipType


class Edge(NamedTuple):
    """A relationship of one type between two entities, and the facts that state it, by time."""

    source: str
    target: str
    type: RelationshipType
    evidence: tuple[Evidence, ...]

    @property
    def confidence(self) -> float:
        """The probability that at least one of its facts is right."""
        return round(1.0 - math.prod(1.0 - each.confidence for each in self.evidence), 3)


class Neighborhood(NamedTuple):
    """Entities by the number of hops to the nearest start; `truncated`: there are more."""

    hops: dict[str, int]
    truncated: bool


class EntityGraph:
    """The relationships of a zone that pass a filter, with merged entities taken as one."""

    def __init__(
        self,
        memory: apsw.Connection,
        identity: apsw.Connection,
        which: RelationshipFilter = CURRENT,
    ) -> None:
        self._memory, self._identity, self._which = memory, identity, which

    def neighbors(
        self, starts: Sequence[str], hops: int, limit: int, direction: Direction = "both"
    ) -> Neighborhood:
        """Return `starts` and the entities within some hops of any of them, the nearest first.

        At equal distance, those with the most facts come first. At most `limit` entities are
        returned, but always all of `starts`.
        """
        distances = dict.fromkeys(starts, 0)
        frontier: Sequence[str] = list(distances)
        for distance in range(1, hops + 1):
            reached = self._reached(frontier, distances, direction)
            room = max(limit - len(distances), 0)
            frontier = nsmallest(room, reached, key=lambda far: (-reached[far], far))
            distances.update(dict.fromkeys(frontier, distance))
            if len(reached) > room:
                return Neighborhood(distances, truncated=True)
            if not frontier:
                break
        return Neighborhood(distances, truncated=False)

    def path(
        self,
        starts: Sequence[str],
        ends: Sequence[str],
        max_hops: int,
        direction: Direction = "both",
    ) -> list[str]:
        """Return a shortest path from one of `starts` to one of `ends`; empty if there is none.

        Of several shortest paths, return the one whose relationships have more facts, compared hop
        by hop from the start.
        """
        before = dict.fromkeys(starts, "")
        frontier: Sequence[str] = starts
        for _ in range(max_hops):
            if not frontier or any(end in before for end in ends):
                break
            reached: dict[str, tuple[int, str]] = {}
            for near, far, count in self._links(frontier, direction):
                if far not in before:
                    reached[far] = min(reached.get(far, (-count, near)), (-count, near))
            before.update((far, near) for far, (_, near) in reached.items())
            frontier = sorted(reached)
        path = [end for end in ends if end in before][:1]
        if not path:
            return []
        while before[path[-1]]:
            path.append(before[path[-1]])
        return path[::-1]

    def edges_of(self, entities: Sequence[str], direction: Direction = "both") -> list[Edge]:
        """Return the relationships of some entities."""
        ids = self._with_merged(entities)
        found = relationship_queries.evidence_of(self._memory, ids, direction, self._which)
        return self._edges(found)

    def edges_among(self, entities: Sequence[str]) -> list[Edge]:
        """Return the relationships between these entities."""
        ids = self._with_merged(entities)
        return self._edges(relationship_queries.evidence_among(self._memory, ids, self._which))

    def canonical(self, entity_ids: Iterable[str]) -> dict[str, str]:
        """Return id -> id after merges."""
        ids = list(dict.fromkeys(entity_ids))
        winners: dict[str, str] = {}
        pending = ids
        while pending:
            found = direct_merges(self._identity, pending)
            winners |= found
            pending = [id_ for id_ in set(found.values()) if id_ not in winners]
        return dict(zip(ids, ids, strict=True)) | {id_: _end(id_, winners) for id_ in winners}

    def _reached(
        self, entities: Sequence[str], known: Container[str], direction: Direction
    ) -> Counter[str]:
        """Return the number of facts of each entity that is related to these, but for `known`."""
        ids = self._with_merged(entities)
        related = relationship_queries.adjacent(self._memory, ids, direction, self._which)
        canonical = self.canonical(far for far, _ in related)
        facts: Counter[str] = Counter()
        for far, count in related:
            if canonical[far] not in known:
                facts[canonical[far]] += count
        return facts

    def _links(self, entities: Sequence[str], direction: Direction) -> list[tuple[str, str, int]]:
        """Return (one of these, entity related to it, number of facts), after merges."""
        ids = self._with_merged(entities)
        found = relationship_queries.links(self._memory, ids, direction, self._which)
        canonical = self.canonical([*ids, *(far for _, far, _ in found)])
        facts: Counter[tuple[str, str]] = Counter()
        for near, far, count in found:
            facts[canonical[near], canonical[far]] += count
        return [(near, far, count) for (near, far), count in facts.items() if near != far]

    def _with_merged(self, entities: Sequence[str]) -> list[str]:
        ids = list(entities)
        merged = directly_merged(self._identity, ids)
        while merged:
            ids += merged
            merged = directly_merged(self._identity, merged)
        return ids

    def _edges(self, facts: Sequence[Evidence]) -> list[Edge]:
        canonical = self.canonical(id_ for fact in facts for id_ in (fact.source, fact.target))
        grouped: dict[tuple[str, str, RelationshipType], list[Evidence]] = {}
        for fact in facts:
            source, target = canonical[fact.source], canonical[fact.target]
            if source != target:
                grouped.setdefault((source, target, fact.type), []).append(fact)
        return [
            Edge(*key, tuple(sorted(evidence, key=lambda one: (one.as_of, one.fact_id))))
            for key, evidence in sorted(grouped.items())
        ]


def _end(entity_id: str, winners: Mapping[str, str]) -> str:
    """Return the entity to which merges lead."""
    seen = set()
    while entity_id in winners and entity_id not in seen:
        seen.add(entity_id)
        entity_id = winners[entity_id]
    return entity_id
