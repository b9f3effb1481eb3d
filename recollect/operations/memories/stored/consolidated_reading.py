"""The texts of consolidated memories, made from those of their memories when they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.listing import hierarchy_list

_numbers = msgspec.json.Decoder(set[int])


class ConsolidatedMemory(NamedTuple):
    """A consolidated memory as it is shown.

    Attributes:
        gist: what it adds to the text of a memory that consolidates it.
        children: the ids of the memories in it, in order.
        texts: the ids of all texts under it, in order.
        first_at, last_at: the times of the first and the last of them (unix ms).
        has_statements: its text is a language model's.
    """

    text: str
    gist: str
    children: Sequence[str]
    texts: Sequence[str]
    first_at: int
    last_at: int
    has_statements: bool


def consolidated_memories(files: ZoneFiles, ids: Iterable[str]) -> Mapping[str, ConsolidatedMemory]:
    """Return id -> consolidated memory, for those among `ids` that still have a child to show."""
    connection = files.memory.connection
    known = hierarchy_list.consolidations(connection, sorted(ids))
    if not known:
        return {}
    # Imported here: it loads tables of words, which a query of other memories does not need.
    from recollect.streams.consolidation.consolidated_text import Entry, consolidated_text

    tree = hierarchy_list.tree(connection, known)
    rows = hierarchy_list.consolidations(connection, sorted(tree))
    stated = hierarchy_list.statements(
        connection, [id_ for id_, row in rows.items() if row.has_statements]
    )
    leaves = {child.id for of_one in tree.values() for child in of_one} - tree.keys()
    events = event_list.with_ids(files.events.connection, sorted(leaves))
    by_id: dict[str, ConsolidatedMemory] = {}
    numbers: dict[str, set[int]] = {}
    for id_ in sorted(tree, key=lambda each: rows[each].level):
        entries: list[Entry] = []
        shown: list[str] = []
        texts: list[str] = []
        numbers[id_] = set()
        for child in tree[id_]:
            if (below := by_id.get(child.id)) is not None:
                times = below.first_at, below.last_at
                entries.append(Entry(child.position, below.gist, *times, len(below.texts)))
                texts += below.texts
                numbers[id_] |= numbers[child.id]
            elif (event := events.get(child.id)) is not None:
                at = child.valid_at
                entries.append(Entry(child.position, event.content, at, at))
                texts.append(child.id)
                numbers[id_].add(child.number)
            else:
                continue
            shown.append(child.id)
        if not entries:
            continue
        # A model's sentences may say what any of the texts said: none may be gone or replaced.
        is_whole = numbers[id_] == _numbers.decode(rows[id_].sources)
        statements = stated.get(id_, []) if is_whole else []
        made = consolidated_text(entries, statements)
        by_id[id_] = ConsolidatedMemory(
            made.text,
            made.gist,
            shown,
            texts,
            min(entry.first_at for entry in entries),
            max(entry.last_at for entry in entries),
            bool(statements),
        )
    return {id_: by_id[id_] for id_ in known if id_ in by_id}
