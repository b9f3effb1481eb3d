"""The hierarchy of stored memories: consolidating them, level by level, and walking through it."""

from __future__ import annotations

import logging
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.operations.answers.recalling import recall
from recollect.operations.ingestion.ingesting import publish_and_decide
from recollect.operations.memories.page_cursors import check_limit
from recollect.operations.memories.stored.consolidated_reading import consolidated_memories
from recollect.operations.memories.stored.stored_memories import may_write, stored_memory, with_ids
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.listing import hierarchy_list
from recollect.schemas.changes import StoredMemory as StoredMemoryRow
from recollect.schemas.decoder_errors import decoder_message
from recollect.schemas.errors import InvalidInput, Unavailable
from recollect.schemas.events import ConsolidationMethod
from recollect.schemas.memory_terms import (
    MAX_CHILDREN,
    MAX_CONSOLIDATION_LEVELS,
    MIN_CHILDREN,
)
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    ConsolidatedLevel,
    MemoryConsolidationReport,
    MemoryHit,
    MemoryHits,
    MemoryLevel,
)
from recollect.streams.publishing.commands import command as command_draft

if TYPE_CHECKING:
    from recollect.home.ticks.memory_clusters import Candidate, Criteria, Plan
    from recollect.streams.consolidation.affinity import Affinity
    from recollect.streams.writing.statement_prompt import ShownMemory

#: Commands that are published and decided together.
_BATCH = 200
#: Requests to a language model at the same time.
_MODEL_CALLS = 3
#: Characters of a memory that a model sees.
_SHOWN_CHARACTERS = 2_000
#: The number of recall results per requested memory, and the maximum in total.
_RECALLED_PER_HIT, _MAX_RECALLED = 5, 1_000
_log = logging.getLogger(__name__)


def consolidate_memories(
    zone: OpenZone,
    criteria: Criteria,
    *,
    method: ConsolidationMethod,
    by: Affinity,
    max_levels: int,
    model: bool | None,
) -> MemoryConsolidationReport:
    """Consolidate memories that no other consolidates yet, and then the consolidated ones.

    Raises:
        UnknownZone: the zone has no events.
        InvalidInput: a value is invalid; the message names it.
    """
    zone.must_exist()
    home = zone.open_home.home
    if model:
        home.must_have_model()
    asks_model = home.writer == "model" if model is None else model

    def is_allowed(memory: StoredMemoryRow) -> bool:
        return may_write(zone, memory.scope, memory.user_id, memory.agent_id)

    # Imported here: it loads the agents' rules, which a query does not need.
    from recollect.home.ticks.memory_clusters import plans

    levels: list[ConsolidatedLevel] = []
    for level in range(max_levels):
        with zone.files() as files, files.read_transaction():
            cluster_plans = plans(files, criteria, level, method, by, is_allowed)
            before = hierarchy_list.ids_of_level(files.memory.connection, level + 1, method)
        if not cluster_plans:
            continue
        if asks_model:
            cluster_plans = _with_statements(zone, cluster_plans)
        for first in range(0, len(cluster_plans), _BATCH):
            batch = cluster_plans[first : first + _BATCH]
            publish_and_decide(zone, [command_draft(plan.command, plan.at) for plan in batch])
        levels.append(_made(zone, level + 1, method, before))
    return MemoryConsolidationReport(levels=levels)


def _made(
    zone: OpenZone, level: int, method: ConsolidationMethod, before: Set[str]
) -> ConsolidatedLevel:
    """Return the memories of a level that a method made, without those of `before`."""
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        made = sorted(hierarchy_list.ids_of_level(connection, level, method) - before)
        rows = hierarchy_list.consolidations(connection, made)
        tree = hierarchy_list.children(connection, made)
    return ConsolidatedLevel(
        level=level,
        memory_ids=made,
        archived=sum(map(len, tree.values())),
        with_model=sum(row.has_statements for row in rows.values()),
    )


# With a model


def _with_statements(zone: OpenZone, plans_: Sequence[Plan]) -> list[Plan]:
    """Return the plans with a model's recorded answers; a plan without an answer is unchanged."""
    # Imported here: only consolidation with a model needs them.
    from recollect.operations.writing.writing import open_client, recorder_of
    from recollect.streams.writing.recorder import ErasedDuringCall
    from recollect.streams.writing.statement_prompt import STATEMENT_ROLE, statement_request

    home = zone.open_home.home

    def asked(plan: Plan) -> Plan:
        try:
            with zone.files() as files, files.read_transaction():
                shown, numbers = _shown(files, plan.cluster)
            recording, ref = recorder.ask(
                statement_request(shown), frozenset(numbers), STATEMENT_ROLE
            )
        except (ErasedDuringCall, Unavailable) as error:
            reason = str(error) or "one of their texts was erased meanwhile"
            _log.warning("memories are consolidated without the model: %s", reason)
            return plan
        command = msgspec.structs.replace(
            plan.command,
            source_id=f"{plan.command.source_id}:{ref.hash.hex()[:16]}",
            answers=(ref,),
            sources=tuple(sorted(numbers)),
            model=recording.header.model,
            role=STATEMENT_ROLE,
        )
        return plan._replace(command=command)

    with closing(open_client(home.configuration, home.directory)) as client:
        recorder = recorder_of(zone, client)
        with ThreadPoolExecutor(_MODEL_CALLS) as pool:
            return list(pool.map(asked, plans_))


def _shown(files: ZoneFiles, cluster: Sequence[Candidate]) -> tuple[list[ShownMemory], set[int]]:
    """Return the memories of a cluster as a model sees them, and the numbers of their events.

    Raises:
        ErasedDuringCall: one of their texts was erased.
    """
    ids = [candidate.id for candidate in cluster]
    made = consolidated_memories(files, ids)
    texts = {id_ for candidate in cluster for id_ in candidate.texts}
    events = event_list.with_ids(files.events.connection, sorted(texts))
    # Imported here, as above.
    from recollect.streams.writing.recorder import ErasedDuringCall
    from recollect.streams.writing.statement_prompt import ShownMemory

    if len(events) < len(texts):
        raise ErasedDuringCall
    shown = []
    for position, candidate in enumerate(cluster, 1):
        text = made[candidate.id].text if candidate.id in made else events[candidate.id].content
        shown.append(
            ShownMemory(position, format_time(candidate.at)[:10], text[:_SHOWN_CHARACTERS])
        )
    return shown, {events[id_].number for id_ in texts}


# Walking through it


def children_of(zone: OpenZone, id_: str) -> MemoryLevel:
    """Return the memories in a consolidated one, in order; of any other memory, none.

    Raises:
        UnknownId: no stored memory has this id.
    """
    return MemoryLevel(memories=with_ids(zone, stored_memory(zone, id_).child_memory_ids))


def ancestors_of(zone: OpenZone, id_: str) -> MemoryLevel:
    """Return the consolidated memories above a memory, the nearest first.

    Raises:
        UnknownId: no stored memory has this id.
    """
    first = stored_memory(zone, id_).first_id
    with zone.files() as files:
        above = hierarchy_list.ancestors(files.memory.connection, [first])
    return MemoryLevel(memories=with_ids(zone, above.get(first, [])))


def search(
    zone: OpenZone, query: str, *, prefer_abstracts: bool, max_level: int | None, max_results: int
) -> MemoryHits:
    """Return the stored memories that answer a question, best first.

    What is recalled is traced to the memory that states it, and with `prefer_abstracts` from there
    to the highest active memory above it, but none above `max_level`.

    Raises:
        InvalidInput: the question, `max_level` or `max_results` is invalid.
    """
    check_limit(max_results, "max_results")
    if max_level is not None and max_level < 0:
        raise InvalidInput(f"max_level is {max_level}; give a whole number of at least 0")
    asked = min(_RECALLED_PER_HIT * max_results, _MAX_RECALLED)
    answer = recall(zone, query, {"max_results": asked, "scope": ("facts", "events")})
    if not answer.results:
        return MemoryHits(hits=[])
    scores = {result.id: result.score for result in answer.results}
    sources: dict[str, list[str]] = {}
    best: dict[str, float] = {}
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        texts = hierarchy_list.texts_of(connection, list(scores))
        above = hierarchy_list.ancestors(connection, [text.memory_id for text in texts])
        parents = {id_ for ancestor_ids in above.values() for id_ in ancestor_ids}
        levels = hierarchy_list.active_levels(connection, parents)
        highest = max(levels.values(), default=0) if max_level is None else max_level
        for text in texts:
            id_ = text.id
            for parent in above.get(text.memory_id, []) if prefer_abstracts else []:
                if parent in levels and levels[parent] <= highest:
                    id_ = parent
            matches = sources.setdefault(id_, [])
            if text.id not in matches:
                matches.append(text.id)
            best[id_] = max(best.get(id_, 0.0), scores[text.found_id])
    chosen = sorted(sources, key=lambda id_: -best[id_])[:max_results]
    return MemoryHits(
        hits=[
            MemoryHit(
                memory=memory, score=best[memory.memory_id], matches=sources[memory.memory_id]
            )
            for memory in with_ids(zone, chosen)
        ]
    )


def checked_affinity(max_levels: int, **values: Any) -> Affinity:
    """Return the constants of a consolidation.

    Raises:
        InvalidInput: one of them, or the number of levels, is out of range.
    """
    # Imported here: it loads numpy code that only consolidation needs.
    from recollect.streams.consolidation.affinity import Affinity

    by = Affinity(**values)
    for name, value, low, high in (
        ("beta", by.beta, 0, 1),
        ("affinity_threshold", by.threshold, 0, 1),
        ("lambda_decay", by.decay, 0, 1_000),
        ("time_unit_hours", by.unit_hours, 0.001, 1_000_000),
        ("min_cluster_size", by.min_size, MIN_CHILDREN, MAX_CHILDREN),
        ("max_levels", max_levels, 1, MAX_CONSOLIDATION_LEVELS),
    ):
        if not low <= value <= high:
            raise InvalidInput(f"{name} is {value}; give {low} to {high}")
    return by


def criteria_of(**values: Any) -> Criteria:
    """Return the criteria of a consolidation; memories lose importance until now.

    Raises:
        InvalidInput: a value is not one of the choices, or is out of range.
    """
    # Imported here, as above.
    from recollect.home.ticks.memory_clusters import Criteria

    highest = values["importance_max"]
    if highest is not None and not 0 <= highest <= 1:
        raise InvalidInput(f"importance_max is {highest}; give 0 to 1")
    try:
        return msgspec.convert({**values, "now": unix_ms()}, Criteria)
    except msgspec.ValidationError as error:
        raise InvalidInput(decoder_message(error, Criteria)) from None
