"""The hierarchy of stored memories: the parents and children of consolidated memories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import json_array, rows
from recollect.schemas.changes import MemoryConsolidation
from recollect.schemas.events import ConsolidationMethod

_CONSOLIDATION = ", ".join(MemoryConsolidation.__struct_fields__)
_numbers = msgspec.json.Decoder(tuple[int, ...])


class ChildMemory(NamedTuple):
    """A memory in a consolidated one: its current version, and its position there.

    `number`: of the version's event; `valid_at`: since when it is true (unix ms).
    """

    id: str
    position: int
    number: int
    valid_at: int


class ModelStatement(NamedTuple):
    """A sentence of a language model, and the positions of the memories that it rests on."""

    text: str
    positions: tuple[int, ...]


def consolidations(
    connection: apsw.Connection, ids: Sequence[str]
) -> dict[str, MemoryConsolidation]:
    """Return id -> consolidation, for the consolidated memories among these."""
    consolidation_rows = rows(
        connection,
        f"SELECT {_CONSOLIDATION} FROM memory_consolidations "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(ids),),
    )
    return {row[0]: MemoryConsolidation(*row) for row in consolidation_rows}


def ids_of_level(
    connection: apsw.Connection, level: int, method: ConsolidationMethod
) -> frozenset[str]:
    """Return the ids of the memories of a level, from 1, that a method made."""
    found = rows(
        connection,
        "SELECT id FROM memory_consolidations WHERE level = ? AND method = ?",
        (level, method),
    )
    return frozenset(id_ for (id_,) in found)


def active_levels(connection: apsw.Connection, ids: Iterable[str]) -> dict[str, int]:
    """Return id -> level, for the active ones among these consolidated memories."""
    found = rows(
        connection,
        "SELECT id, level FROM memory_consolidations JOIN memory_versions USING (id) "
        "WHERE state = 'active' AND id IN (SELECT value FROM json_each(?))",
        (json_array(sorted(ids)),),
    )
    return dict(found)


def parents(
    connection: apsw.Connection, child_ids: Sequence[str] | None = None, *, deleted: bool = False
) -> dict[str, str]:
    """Return child -> the memory that consolidates it, both by the ids of their first versions.

    `child_ids` None: of all memories. `deleted`: the deleted parents instead of the existing ones.
    """
    chosen = "" if child_ids is None else "AND child_id IN (SELECT value FROM json_each(?))"
    parent_rows = rows(
        connection,
        "SELECT child_id, parent_id FROM memory_parents "
        "JOIN memory_versions AS parent ON parent.id = parent_id "
        f"WHERE (parent.state = 'deleted') = {deleted:d} {chosen}",
        () if child_ids is None else (json_array(child_ids),),
    )
    return dict(parent_rows)


def children(
    connection: apsw.Connection, parent_ids: Iterable[str]
) -> Mapping[str, list[ChildMemory]]:
    """Return id of a consolidated memory -> its current and active children, in order."""
    by_parent: dict[str, list[ChildMemory]] = defaultdict(list)
    for parent, *child in rows(
        connection,
        """
        SELECT parent_id, version.id, position, memories.number, memories.valid_at
          FROM json_each(?) CROSS JOIN memory_parents ON parent_id = value
          JOIN memory_versions AS version ON version.memory_id = child_id
          JOIN memories ON memories.id = version.id
         WHERE version.superseded_by_id IS NULL AND version.state = 'active'
         ORDER BY parent_id, position
        """,
        (json_array(sorted(parent_ids)),),
    ):
        by_parent[parent].append(ChildMemory(*child))
    return by_parent


def tree(connection: apsw.Connection, ids: Iterable[str]) -> Mapping[str, list[ChildMemory]]:
    """Return the children of consolidated memories, of their consolidated children, and so on."""
    found: dict[str, list[ChildMemory]] = {}
    level = set(ids)
    while level:
        below = children(connection, level)
        found |= {id_: below.get(id_, []) for id_ in level}
        level = {child.id for of_one in below.values() for child in of_one} - found.keys()
    return {id_: of_one for id_, of_one in found.items() if of_one}


def leaves(tree: Mapping[str, list[ChildMemory]], id_: str) -> list[ChildMemory]:
    """Return the texts under a consolidated memory, in order; `tree`: see the function `tree`."""
    return [
        leaf
        for child in tree.get(id_, ())
        for leaf in (leaves(tree, child.id) if child.id in tree else [child])
    ]


def statements(
    connection: apsw.Connection, ids: Sequence[str]
) -> Mapping[str, list[ModelStatement]]:
    """Return a model's statements about the memories in consolidated ones, in order."""
    by_parent: dict[str, list[ModelStatement]] = defaultdict(list)
    for id_, text, positions in rows(
        connection,
        "SELECT memory_id, text, positions FROM memory_statements "
        "WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY memory_id, position",
        (json_array(ids),),
    ):
        by_parent[id_].append(ModelStatement(text, _numbers.decode(positions)))
    return by_parent


def ancestors(connection: apsw.Connection, ids: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the consolidated memories above others, lowest first.

    `ids`: of the first versions of memories; those that nothing consolidates are left out.
    """
    by_memory: dict[str, list[str]] = {}
    level = {id_: [id_] for id_ in ids}
    while level:
        above: dict[str, list[str]] = defaultdict(list)
        for child, parent in parents(connection, sorted(level)).items():
            for id_ in level[child]:
                if parent not in by_memory.setdefault(id_, []):
                    by_memory[id_].append(parent)
                    above[parent].append(id_)
        level = above
    return by_memory


def source_numbers(connection: apsw.Connection, id_: str) -> tuple[int, ...]:
    """Return the event numbers of the texts under a consolidated memory; none for other memories.

    Superseded texts are included.
    """
    row = consolidations(connection, [id_]).get(id_)
    return () if row is None else _numbers.decode(row.sources)


class FoundText(NamedTuple):
    """The current version of the stored memory that an event or fact is from."""

    found_id: str
    id: str
    memory_id: str


def texts_of(connection: apsw.Connection, ids: Sequence[str]) -> list[FoundText]:
    """Return the active stored memories that these events or facts are from, in order."""
    text_rows = rows(
        connection,
        """
        SELECT value, current.id, current.memory_id
          FROM json_each(?)
          JOIN memory_versions AS version
            ON version.id IN (value, (SELECT source_event_id FROM facts WHERE facts.id = value))
          JOIN memory_versions AS current ON current.memory_id = version.memory_id
         WHERE current.superseded_by_id IS NULL AND current.state = 'active'
         ORDER BY json_each.key
        """,
        (json_array(ids),),
    )
    return [FoundText(*row) for row in text_rows]
