"""LangGraph's `BaseStore` over a zone (extra `langgraph`): items are recalled, and forgotten.

>>> from recollect.integrations.langgraph_store import RecollectStore
>>> store = RecollectStore(zone)
>>> store.put(("users", "ada"), "food", {"likes": "pizza"})
>>> store.get(("users", "ada"), "food").value
{'likes': 'pizza'}
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from recollect.integrations.kept_items import KeptItem, KeptItems, NewItem, words_of
from recollect.library.library_zone import Zone
from recollect.streams.system.extras import needed

with needed("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        tokenize_path,
    )

# Most results that one question may have.
_MAX_RESULTS = 1_000

_Address = tuple[tuple[str, ...], str]


class RecollectStore(BaseStore):
    """A LangGraph store whose items stand in a zone.

    Every put is an event of `platform`; the newest is the item, and those before are found no
    more. Deleting an item erases all of them for good. A search with a `query` gives what recall
    finds, best first and scored, then what else matches, the newest first. An item of which
    nothing is to be searched (`index=False`) is found by its key alone.

    `zone` is of a home or of a service; any thread may call. Values are JSON objects. Time to live
    is not supported.
    """

    supports_ttl = False

    def __init__(self, zone: Zone, *, platform: str = "langgraph") -> None:
        self._kept = KeptItems(zone, platform)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer reads as things stood before, then carry out the puts; a later one wins.

        Raises:
            InvalidInput: an item cannot be kept.
        """
        every = list(ops)
        puts: dict[_Address, PutOp] = {}
        results: list[Result] = []
        items: dict[_Address, KeptItem] | None = None
        for op in every:
            if isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
                results.append(None)
            elif isinstance(op, SearchOp | ListNamespacesOp):
                items = self._items() if items is None else items
                if isinstance(op, SearchOp):
                    results.append(self._search(op, items))
                else:
                    results.append(_namespaces(op, items))
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
        self._put(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what `batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        kept = self._kept.newest((*op.namespace, op.key))
        return None if kept is None else Item(**_fields(kept))

    def _items(self) -> dict[_Address, KeptItem]:
        """Return every item by its namespace and key, the last changed first."""
        found: dict[_Address, KeptItem] = {}
        for kept in reversed(self._kept.every()):
            found.setdefault((kept.path[:-1], kept.path[-1]), kept)
        return found

    def _search(self, op: SearchOp, items: dict[_Address, KeptItem]) -> list[SearchItem]:
        depth = len(op.namespace_prefix)
        matching = [
            kept
            for (namespace, _), kept in items.items()
            if namespace[:depth] == tuple(op.namespace_prefix)
            and (not op.filter or _matches(kept.value["value"], op.filter))
        ]
        scores = self._scores(op.query) if matching and op.query and op.query.strip() else {}
        ranked = sorted(matching, key=lambda kept: -scores.get(kept.id, -1.0))
        return [
            SearchItem(**_fields(kept), score=scores.get(kept.id))
            for kept in ranked[op.offset : op.offset + op.limit]
        ]

    def _scores(self, query: str) -> dict[str, float]:
        """Return event id -> score of what recall finds."""
        answer = self._kept.zone.recall(
            query, scope="events", platform=self._kept.platform, max_results=_MAX_RESULTS
        )
        return {result.id: result.score for result in answer.results}

    def _put(self, ops: Sequence[PutOp]) -> None:
        with self._kept.lock:
            new = []
            for op in ops:
                path = (*op.namespace, op.key)
                if op.value is None:
                    continue
                before = self._kept.newest(path)
                value: dict[str, Any] = {"value": dict(op.value)}
                fields: dict[str, Any] = {"direction": "out"}
                if before is not None:
                    first = before.value.get("first") or before.source_id
                    value["first"] = first
                    value["created_at"] = before.value.get("created_at") or before.at.isoformat()
                    fields |= {"kind": "edit", "target": first}
                new.append(NewItem(path, value, _words(op), self._kept.platform, fields))
            self._kept.add(new)
            for op in ops:
                if op.value is None:
                    self._kept.forget_under((*op.namespace, op.key))


def _fields(kept: KeptItem) -> dict[str, Any]:
    """Return the fields of an item as LangGraph names them."""
    created = kept.value.get("created_at")
    return {
        "value": kept.value["value"],
        "key": kept.path[-1],
        "namespace": kept.path[:-1],
        "created_at": datetime.fromisoformat(created) if created else kept.at,
        "updated_at": kept.at,
    }


def _words(op: PutOp) -> str:
    if op.index is False:
        return op.key
    if op.index is None:
        return words_of(op.value)
    texts = [text for path in op.index for text in get_text_at_path(op.value, tokenize_path(path))]
    return "\n".join(texts) or op.key


def _namespaces(op: ListNamespacesOp, items: Iterable[_Address]) -> list[tuple[str, ...]]:
    found = {
        namespace
        for namespace, _ in items
        if all(_fits(namespace, condition) for condition in op.match_conditions or ())
    }
    cut = found if op.max_depth is None else {namespace[: op.max_depth] for namespace in found}
    return sorted(cut)[op.offset : op.offset + op.limit]


def _fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _matches(value: Any, wanted: Any) -> bool:
    """Return whether a value is as a filter wants it; operators begin with a $."""
    if isinstance(wanted, dict):
        if any(name.startswith("$") for name in wanted):
            return all(_holds(value, name, other) for name, other in wanted.items())
        return isinstance(value, dict) and all(
            _matches(value.get(name), part) for name, part in wanted.items()
        )
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_matches(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _holds(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        one, two = float(value), float(other)
    except (TypeError, ValueError):
        # What is no number is neither above nor below one.
        return False
    return {"$gt": one > two, "$gte": one >= two, "$lt": one < two, "$lte": one <= two}[operator]
