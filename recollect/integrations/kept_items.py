"""Values of other programs, stored as events; recall searches an event's text, not its value."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

from recollect import MAX_CONTENT_BYTES, InvalidInput, Memory, Zone
from recollect.integrations.facade_kit import list_all

#: The metadata key of the value. It is stored as JSON text, so that any characters and numbers can
#: be stored.
_VALUE = "kept_value"
# A small first page, since callers mostly need only the last few values.
_FIRST_PAGE = 20
_RECALL_BATCH_SIZE = 50
_MAX_FORGOTTEN = 5_000
# Above this many paths it is faster to scan all stored values.
_MANY_PATHS = 32
_TICK = timedelta(milliseconds=1)


class KeptItem(NamedTuple):
    """A stored value. `id`: the event's own id; `source_id`: the source id that `add` assigned."""

    id: str
    source_id: str
    path: tuple[str, ...]
    value: Any
    at: datetime


class NewItem(NamedTuple):
    """A value to store under a path, the text by which it is found, and its sender.

    `fields`: further fields of the event.
    """

    path: tuple[str, ...]
    value: Any
    text: str
    sender_id: str
    fields: Mapping[str, Any]


class KeptItems:
    """The values that a program stores in a zone, under one platform name.

    A path is a tuple of texts, and may have any number of values, in the order in which they were
    added. Methods may be called from any thread.
    """

    def __init__(self, zone: Zone, platform: str) -> None:
        self.zone = zone
        self.platform = platform
        #: Held while stored values are read and then changed.
        self.lock = threading.RLock()

    def add(self, items: Sequence[NewItem]) -> list[str]:
        """Store values, and return the source ids assigned to them.

        Raises:
            InvalidInput: a value cannot be stored. In that case no value is stored.
        """
        if not items:
            return []
        with self.lock:
            latest = self._latest()
            events: list[dict[str, Any]] = []
            for item in items:
                latest += _TICK
                events.append(
                    {
                        "platform": self.platform,
                        "id": f"{self.platform}-{uuid4().hex}",
                        "sender_id": item.sender_id,
                        "thread_id": _thread(item.path),
                        "occurred_at": latest.isoformat(timespec="milliseconds"),
                        "content": _storable(item.text),
                        "metadata": {_VALUE: json.dumps(item.value)},
                        **item.fields,
                    }
                )
            ids = [str(event["id"]) for event in events]
            report = self.zone.ingest(events)
            if report.rejected:
                first = report.rejections[0]
                stored = [id_ for id_ in ids if self._is_stored(id_)]
                if stored:
                    self.zone.forget(*stored, platform=self.platform)
                raise InvalidInput(f"a value was not stored: {first.reason}")
            return ids

    def newest(self, path: tuple[str, ...]) -> KeptItem | None:
        """Return the last value that was added under a path."""
        return next(self._newest_first(path), None)

    def newest_of(self, paths: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], KeptItem]:
        """Return the last value under each path; paths without values are left out."""
        distinct = set(paths)
        if len(distinct) <= _MANY_PATHS:
            pairs = ((path, self.newest(path)) for path in distinct)
            return {path: item for path, item in pairs if item is not None}
        newest: dict[tuple[str, ...], KeptItem] = {}
        for item in self.newest_first():
            if item.path in distinct:
                newest.setdefault(item.path, item)
        return newest

    def under(self, path: tuple[str, ...], *, last: int | None = None) -> list[KeptItem]:
        """Return the values under a path, oldest first; `last`: only this many of the newest."""
        return list(islice(self._newest_first(path), last))[::-1]

    def newest_first(self) -> Iterator[KeptItem]:
        """Yield all values of the platform, newest first."""
        return self._newest_first(None)

    def recall(self, query: str, limit: int) -> Iterator[tuple[KeptItem, float]]:
        """Yield the values that recall finds for a query, best first, each with its score."""
        results = self.zone.recall(
            query, scope="events", platform=self.platform, max_results=limit
        ).results
        for start in range(0, len(results), _RECALL_BATCH_SIZE):
            part = results[start : start + _RECALL_BATCH_SIZE]
            sources = [result.source_event_ids[0] for result in part]
            events = list_all(self.zone, "events", platform=self.platform, source_event_ids=sources)
            items = {memory.id: item for memory in events if (item := _to_item(memory))}
            for result in part:
                if result.id in items:
                    yield items[result.id], result.score

    def forget(self, ids: Sequence[str]) -> None:
        """Erase values by their source ids, for good."""
        for start in range(0, len(ids), _MAX_FORGOTTEN):
            part = ids[start : start + _MAX_FORGOTTEN]
            self.zone.forget(*part, platform=self.platform)

    def forget_under(self, *paths: tuple[str, ...]) -> bool:
        """Erase all values under some paths, for good; return whether there were any.

        Each erasure command covers several thousand values.
        """
        with self.lock:
            distinct = set(paths)
            if len(distinct) <= _MANY_PATHS:
                items = [item for path in distinct for item in self._newest_first(path)]
            else:
                items = [item for item in self.newest_first() if item.path in distinct]
            self.forget([item.source_id for item in items])
            return bool(items)

    def _latest(self) -> datetime:
        """Return the current time, or the time of the last stored value if it is later."""
        last = next(self._events(None, 1), None)
        now = datetime.now(UTC)
        return now if last is None else max(now, _time(last))

    def _newest_first(self, path: tuple[str, ...] | None) -> Iterator[KeptItem]:
        for memory in self._events(path, _FIRST_PAGE):
            if item := _to_item(memory):
                yield item

    def _events(self, path: tuple[str, ...] | None, first: int) -> Iterator[Memory]:
        """Yield events, newest first; `first`: the size of the first page."""
        thread_id = None if path is None else _thread(path)
        return list_all(
            self.zone, "events", first=first, platform=self.platform, thread_id=thread_id
        )

    def _is_stored(self, source_id: str) -> bool:
        try:
            return bool(self.zone.get_memory(source_id))
        except InvalidInput:
            return False


def text_of_value(value: Any) -> str:
    """Return a JSON value as lines of text: each scalar with its name."""
    leaves = list(_leaves(value, ""))
    if len(leaves) == 1:
        return leaves[0][1]
    return "\n".join(f"{name}: {text}" if name else text for name, text in leaves)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _leaves(part, name)
    elif value is not None:
        yield name, value if isinstance(value, str) else json.dumps(value)


def _storable(text: str) -> str:
    """Cut a text to the limits of an event; the value itself is stored in full."""
    clean = text.replace("\0", "").encode("utf-8", "ignore")[:MAX_CONTENT_BYTES]
    return clean.decode("utf-8", "ignore") if clean.strip() else "(no words)"


def _thread(path: tuple[str, ...]) -> str:
    """Return a path as the name of a thread: JSON without invisible characters."""
    return json.dumps(path).replace("\x7f", "\\u007f")


def _to_item(memory: Memory) -> KeptItem | None:
    """Return the value of an event; None if the event is not a stored value."""
    encoded = (memory.metadata or {}).get(_VALUE)
    if not isinstance(encoded, str) or memory.thread_id is None:
        return None
    try:
        path, value = json.loads(memory.thread_id), json.loads(encoded)
    except ValueError:
        return None
    return KeptItem(memory.id, memory.source_event_ids[0], tuple(path), value, _time(memory))


def _time(memory: Memory) -> datetime:
    return datetime.fromisoformat(memory.as_of)
