"""Which stored memories belong together, as commands that consolidate them.

What belongs together is found from the vectors of the zone. Each cluster becomes a command of its
own, so a process that dies repeats one cluster at most, and the decision on a command needs nothing
but the ledger.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.listing import hierarchy_list
from recollect.projections.memory.listing import stored_memory_list as stored
from recollect.projections.memory.listing.stored_memory_list import ListedMemory, MemoryFilter
from recollect.projections.recall.index.vector_index import vectors_of
from recollect.schemas.changes import StoredMemory
from recollect.schemas.events import (
    ConsolidateMemories,
    ConsolidationMethod,
    Draft,
    MemoryScope,
)
from recollect.schemas.ids import text_hash
from recollect.schemas.memory_terms import (
    CONSOLIDATION_LEVELS,
    DEFAULT_IMPORTANCE,
    MAX_CHILDREN,
    MAX_SOURCES,
    StoredMemoryType,
    decayed_importance,
)
from recollect.streams.consolidation.affinity import NEXT, Affinity, Floats, affinity_clusters
from recollect.streams.consolidation.word_cosine import word_vectors
from recollect.streams.publishing.commands import command


class Criteria(msgspec.Struct, frozen=True, kw_only=True):
    """Which memories to consolidate.

    Attributes:
        importance_max: the maximum importance after decay until `now` (unix ms).
        ids: consider these memories and the newest archived ones, and no others.
    """

    memory_type: StoredMemoryType | None = None
    scope: MemoryScope | None = None
    namespace: str | None = None
    namespace_prefix: str | None = None
    importance_max: float | None = None
    now: int = 0
    ids: tuple[str, ...] | None = None


class Candidate(NamedTuple):
    """A memory that may be consolidated: its current version. Times are unix ms.

    Attributes:
        place: only memories of one place are consolidated.
        number: of the record that wrote it.
        texts: the ids of the texts under it.
        state_set_by, before: the event that set its state, and the deleted memory that consolidated
            it before, if there are any.
    """

    id: str
    place: tuple[str | None, ...]
    at: int
    created_at: int
    number: int
    texts: Sequence[str]
    state_set_by: str
    before: str | None


class Plan(NamedTuple):
    """A command and its time (unix ms), and the cluster that it is for."""

    command: ConsolidateMemories
    at: int
    cluster: Sequence[Candidate]


def plans(
    files: ZoneFiles,
    criteria: Criteria,
    level: int,
    method: ConsolidationMethod,
    by: Affinity,
    is_allowed: Callable[[StoredMemory], bool] = lambda memory: True,
) -> list[Plan]:
    """Return a command for each cluster of memories of a level, 0 for texts.

    `is_allowed`: whether a memory may be consolidated.
    """
    places: dict[tuple[str | None, ...], list[Candidate]] = defaultdict(list)
    for candidate in _candidates(files, criteria, level, method, is_allowed):
        places[candidate.place].append(candidate)
    clusters = []
    for members in places.values():
        if method == "criteria":
            clusters += _cut(members, by.min_size)
        elif len(members) >= by.min_size:
            clusters += _alike(files, members, by)
    return [_plan(cluster, method) for cluster in clusters]


def _candidates(
    files: ZoneFiles,
    criteria: Criteria,
    level: int,
    method: ConsolidationMethod,
    is_allowed: Callable[[StoredMemory], bool],
) -> list[Candidate]:
    """Return the memories of a level that no other consolidates, oldest first."""
    connection = files.memory.connection
    of_level = hierarchy_list.ids_of_level(connection, level, method)
    chosen = MemoryFilter(
        ids=sorted(of_level) if level else criteria.ids,
        state="active",
        superseded=False,
        memory_type=None if level else criteria.memory_type,
        scope=criteria.scope,
        namespace=criteria.namespace,
        namespace_prefix=criteria.namespace_prefix,
        consolidated=False,
    )
    limit = -1 if criteria.ids is None else NEXT + len(criteria.ids)
    rows_of_level = stored.memories(connection, chosen, None, limit)
    if criteria.ids is not None and not level:
        archived = msgspec.structs.replace(
            chosen, ids=None, archived=True, excluded_ids=criteria.ids
        )
        rows_of_level += stored.memories(connection, archived, None, NEXT)
    found_ids = [row.memory.id for row in rows_of_level]
    consolidated = {} if level else hierarchy_list.consolidations(connection, found_ids)
    listed = [
        row
        for row in rows_of_level
        if is_allowed(row.memory)
        and (level or (row.memory.id not in consolidated and _matters_little(row, criteria)))
    ]
    before = hierarchy_list.parents(
        connection, [row.version.memory_id for row in listed], deleted=True
    )
    tree = hierarchy_list.tree(connection, [row.memory.id for row in listed]) if level else {}
    candidates = []
    for row in listed:
        memory, at = row.memory, row.memory.valid_at
        texts = [memory.id]
        if level:
            leaves = hierarchy_list.leaves(tree, memory.id)
            if not leaves:
                continue
            texts = [leaf.id for leaf in leaves]
            at = sum(leaf.valid_at for leaf in leaves) // len(leaves)
        owner = (memory.scope, memory.visibility, memory.user_id, memory.agent_id)
        candidates.append(
            Candidate(
                memory.id,
                (*owner, memory.namespace),
                at,
                memory.created_at,
                memory.number,
                texts,
                row.version.state_set_by,
                before.get(row.version.memory_id),
            )
        )
    return sorted(candidates, key=lambda candidate: (candidate.at, candidate.number, candidate.id))


def _matters_little(found: ListedMemory, criteria: Criteria) -> bool:
    """Return whether a memory's decayed importance is at most the requested maximum."""
    if criteria.importance_max is None:
        return True
    memory = found.memory
    importance = DEFAULT_IMPORTANCE if memory.importance is None else memory.importance
    last_used = found.last_accessed_at or memory.created_at
    left = decayed_importance(importance, last_used, criteria.now)
    return left <= criteria.importance_max


def _alike(files: ZoneFiles, members: Sequence[Candidate], by: Affinity) -> list[list[Candidate]]:
    """Return the clusters by affinity; memories without a vector are in none."""
    vectors = _vectors(files, [id_ for member in members for id_ in member.texts])
    known = [member for member in members if all(id_ in vectors for id_ in member.texts)]
    if len(known) < by.min_size:
        return []
    means = np.stack([np.sum([vectors[id_] for id_ in member.texts], axis=0) for member in known])
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    np.divide(means, norms, out=means, where=norms > 0)
    times = np.array([member.at for member in known], np.int64)
    clusters = affinity_clusters(means, times, by, MAX_CHILDREN)
    return [part for cluster in clusters for part in _cut([known[n] for n in cluster], by.min_size)]


def _vectors(files: ZoneFiles, ids: Sequence[str]) -> Mapping[str, Floats]:
    """Return the vectors of texts, from the encoder, or, if there is none, from their words."""
    if files.embeddings.model is not None:
        found = zip(ids, vectors_of(files.embeddings, "event", ids), strict=True)
        return {id_: vector for id_, vector in found if vector.any()}
    events = event_list.with_ids(files.events.connection, ids)
    vectors = word_vectors([each.content for each in events.values()])
    return dict(zip(events, vectors, strict=True))


def _cut(members: Sequence[Candidate], min_size: int) -> list[list[Candidate]]:
    """Cut memories into parts that one memory can consolidate, in their order."""
    parts: list[list[Candidate]] = []
    texts = 0
    for member in members:
        texts += len(member.texts)
        if not parts or len(parts[-1]) == MAX_CHILDREN or texts > MAX_SOURCES:
            parts.append([])
            texts = len(member.texts)
        parts[-1].append(member)
    return [part for part in parts if len(part) >= min_size]


def _plan(cluster: Sequence[Candidate], method: ConsolidationMethod) -> Plan:
    """Return the command for a cluster; it is the same until the cluster's content changes."""
    named = [method, *((each.id, each.state_set_by, each.before) for each in cluster)]
    asked = ConsolidateMemories(
        source_id=f"consolidate-memories:{text_hash(msgspec.json.encode(named).decode())}",
        memory_ids=tuple(each.id for each in cluster),
        method=method,
    )
    return Plan(asked, max(each.created_at for each in cluster), cluster)


def archival_drafts(files: ZoneFiles, ids: Sequence[str], at: int) -> list[Draft]:
    """Return the commands that consolidate memories when they are archived, and the levels above.

    They are clustered together with the newest memories that are archived already. `at`: the time
    of the archival (unix ms).
    """
    criteria = Criteria(ids=tuple(ids))
    return [
        command(plan.command, plan.at, ingested_at=max(at, plan.at))
        for level in range(CONSOLIDATION_LEVELS)
        for plan in plans(files, criteria, level, "affinity", Affinity())
    ]
