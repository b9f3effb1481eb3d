"""LangGraph's `BaseStore` over a zone (extra `langgraph`): recall searches its items.

>>> from recollect.integrations.langgraph_store import RecollectStore
>>> store = RecollectStore(zone)
>>> store.put(("users", "ada"), "food", {"likes": "pizza"})
>>> store.get(("users", "ada"), "food").value
{'likes': 'pizza'}
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from recollect import Zone, needed
from recollect.integrations.kept_items import KeptItem, KeptItems, NewItem, text_of_value

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

# Maximum results of one query.
_MAX_RESULTS = 1_000

_Address = tuple[tuple[str, ...], str]


class RecollectStore(BaseStore):
    """A LangGraph store whose items are stored in a zone.

    Every put is an event of `platform`; the newest one is the item, and earlier ones are no longer
    found. Deleting an item erases all of them for good. A search with a `query` returns the results
    of recall with their scores, best first, then any other matches, newest first. An item that is
    not indexed (`index=False`) is found only by its key.

    `zone` belongs to a home or to a service. Methods may be called from any thread. Values are JSON
    objects. Time to live is not supported.
    """

    supports_ttl = False

    def __init__(self, zone: Zone, *, platform: str = "langgraph") -> None:
        self._stored_items = KeptItems(zone, platform)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the reads on the state before the batch, then the puts; the last put of a key wins.

        All puts are one import, and all deletions one erasure.

        Raises:
            InvalidInput: an item cannot be stored.
            ValueError: an operation, a filter, a limit or an offset is invalid.
        """
        operations = list(ops)
        for op in operations:
            _check(op)
        puts: dict[_Address, PutOp] = {}
        results: list[Result] = []
        for op in operations:
            if isinstance(op, GetOp):
                results.append(self._get(op))
            elif isinstance(op, PutOp):
                puts[tuple(op.namespace), op.key] = op
                results.append(None)
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(_namespaces(op, self._addresses()))
        self._put(list(puts.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run `batch` on a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, op: GetOp) -> Item | None:
        item = self._stored_items.newest((*op.namespace, op.key))
        return None if item is None else Item(**_fields(item))

    def _newest(self) -> Iterator[KeptItem]:
        """Yield the current version of every item, most recently changed first."""
        seen: set[tuple[str, ...]] = set()
        for item in self._stored_items.newest_first():
            if item.path not in seen:
                seen.add(item.path)
                yield item

    def _addresses(self) -> set[_Address]:
        return {(item.path[:-1], item.path[-1]) for item in self._newest()}

    def _search(self, op: SearchOp) -> list[SearchItem]:
        """Return the results of recall, then other matches, most recently changed first.

        Reads only as many items as needed.
        """
        count, by_path = op.offset + op.limit, dict[tuple[str, ...], SearchItem]()
        if op.query and op.query.strip():
            scored: Iterator[tuple[KeptItem, float | None]] = iter(
                self._stored_items.recall(op.query, _MAX_RESULTS)
            )
        else:
            scored = iter(())
        for item, score in chain(scored, ((item, None) for item in self._newest())):
            if len(by_path) >= count:
                break
            if item.path not in by_path and _is_match(item, op):
                by_path[item.path] = SearchItem(**_fields(item), score=score)
        return list(by_path.values())[op.offset : count]

    def _put(self, ops: Sequence[PutOp]) -> None:
        with self._stored_items.lock:
            puts = [((*op.namespace, op.key), op) for op in ops]
            existing = self._stored_items.newest_of(
                path for path, op in puts if op.value is not None
            )
            new = [
                _new_item(path, op, existing.get(path), self._stored_items.platform)
                for path, op in puts
                if op.value is not None
            ]
            self._stored_items.add(new)
            if deleted := [path for path, op in puts if op.value is None]:
                self._stored_items.forget_under(*deleted)


def _new_item(path: tuple[str, ...], op: PutOp, before: KeptItem | None, platform: str) -> NewItem:
    """Return the item of a put: an edit, if the item exists already."""
    value: dict[str, Any] = {"value": dict(op.value or {})}
    fields: dict[str, Any] = {"direction": "out"}
    if before is not None:
        first = before.value.get("first") or before.source_id
        value["first"] = first
        value["created_at"] = before.value.get("created_at") or before.at.isoformat()
        fields |= {"kind": "edit", "target": first}
    return NewItem(path, value, _text(op), platform, fields)


def _check(op: Op) -> None:
    """Raise ValueError if an operation, its limit or its offset is invalid."""
    if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
        raise ValueError(f"Unknown operation type: {type(op)}")
    if isinstance(op, SearchOp | ListNamespacesOp):
        for name, number in (("limit", op.limit), ("offset", op.offset)):
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise ValueError(f"{name} {number!r}: give a whole number, 0 or more")


def _is_match(item: KeptItem, op: SearchOp) -> bool:
    prefix = tuple(op.namespace_prefix)
    if item.path[:-1][: len(prefix)] != prefix:
        return False
    return not op.filter or _matches(item.value["value"], op.filter)


def _fields(item: KeptItem) -> dict[str, Any]:
    """Return the fields of an item as LangGraph names them."""
    created = item.value.get("created_at")
    return {
        "value": item.value["value"],
        "key": item.path[-1],
        "namespace": item.path[:-1],
        "created_at": datetime.fromisoformat(created) if created else item.at,
        "updated_at": item.at,
    }


def _text(op: PutOp) -> str:
    if op.index is False:
        return op.key
    if op.index is None:
        return text_of_value(op.value)
    texts = [text for path in op.index for text in get_text_at_path(op.value, tokenize_path(path))]
    return "\n".join(texts) or op.key


def _namespaces(op: ListNamespacesOp, items: Iterable[_Address]) -> list[tuple[str, ...]]:
    found = {
        namespace
        for namespace, _ in items
        if all(_namespace_matches(namespace, condition) for condition in op.match_conditions or ())
    }
    truncated = (
        found if op.max_depth is None else {namespace[: op.max_depth] for namespace in found}
    )
    return sorted(truncated)[op.offset : op.offset + op.limit]


def _namespace_matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(pattern in ("*", label) for pattern, label in zip(path, part, strict=True))


def _matches(value: Any, expected: Any) -> bool:
    """Return whether a value matches a filter; the names of operators begin with $."""
    if isinstance(expected, dict):
        if any(name.startswith("$") for name in expected):
            return all(_compare(value, name, other) for name, other in expected.items())
        return isinstance(value, dict) and all(
            _matches(value.get(name), part) for name, part in expected.items()
        )
    if isinstance(expected, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(expected)
            and all(_matches(one, other) for one, other in zip(value, expected, strict=True))
        )
    return bool(value == expected)


def _compare(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        one, two = float(value), float(other)
    except (TypeError, ValueError):
        # Values that cannot be compared as numbers are neither above nor below each other.
        return False
    return {"$gt": one > two, "$gte": one >= two, "$lt": one < two, "$lte": one <= two}[operator]
