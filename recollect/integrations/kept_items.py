"""Values of other programs, each kept as an event: its words are recalled, its value comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

from recollect import MAX_CONTENT_BYTES, InvalidInput, Memory, Zone
from recollect.integrations.facade_kit import every

#: The key of an event's metadata that holds the value, as JSON text: so any value can be kept,
#: whatever characters and numbers it holds.
_VALUE = "kept_value"
# Mostly the last few are wanted.
_FIRST_PAGE = 20
_RECALLED_AT_ONCE = 50
_MAX_FORGOTTEN = 5_000
# Of so many paths it takes less time to look through all that is kept.
_MANY_PATHS = 32
_TICK = timedelta(milliseconds=1)


class KeptItem(NamedTuple):
    """A value as it is kept. `id` is the event's own, `source_id` the one that we gave it."""

    id: str
    source_id: str
    path: tuple[str, ...]
    value: Any
    at: datetime


class NewItem(NamedTuple):
    """A value to keep under a path, the words by which it is found, and who said it.

    `fields` are further fields of the event.
    """

    path: tuple[str, ...]
    value: Any
    words: str
    sender_id: str
    fields: Mapping[str, Any]


class KeptItems:
    """The values that a program keeps in a zone, under one platform name.

    A path is a tuple of texts; any number of values may stand under one, in the order in which
    they were added. Any thread may call any method.
    """

    def __init__(self, zone: Zone, platform: str) -> None:
        self.zone = zone
        self.platform = platform
        #: Held while what is kept is read and then changed.
        self.lock = threading.RLock()

    def add(self, items: Sequence[NewItem]) -> list[str]:
        """Keep values, and return the source ids that they were given.

        Raises:
            InvalidInput: one of them cannot be kept; then none is.
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
                        "content": _storable(item.words),
                        "metadata": {_VALUE: json.dumps(item.value)},
                        **item.fields,
                    }
                )
            ids = [str(event["id"]) for event in events]
            report = self.zone.ingest(events)
            if report.rejected:
                first = report.rejections[0]
                kept = [id_ for id_ in ids if self._is_kept(id_)]
                if kept:
                    self.zone.forget(*kept, platform=self.platform)
                raise InvalidInput(f"a value was not kept: {first.reason}")
            return ids

    def newest(self, path: tuple[str, ...]) -> KeptItem | None:
        """Return the last value that was added under a path."""
        return next(self._newest_first(path), None)

    def newest_of(self, paths: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], KeptItem]:
        """Return the last value under each of some paths that has any."""
        wanted = set(paths)
        if len(wanted) <= _MANY_PATHS:
            found = ((path, self.newest(path)) for path in wanted)
            return {path: item for path, item in found if item is not None}
        newest: dict[tuple[str, ...], KeptItem] = {}
        for item in self.newest_first():
            if item.path in wanted:
                newest.setdefault(item.path, item)
        return newest

    def under(self, path: tuple[str, ...], *, last: int | None = None) -> list[KeptItem]:
        """Return the values under a path, the first first; `last`: at most so many, the last."""
        return list(islice(self._newest_first(path), last))[::-1]

    def newest_first(self) -> Iterator[KeptItem]:
        """Yield all values of the platform, the last first."""
        return self._newest_first(None)

    def recalled(self, query: str, most: int) -> Iterator[tuple[KeptItem, float]]:
        """Yield the values that recall finds by a question, best first, each with its score."""
        results = self.zone.recall(
            query, scope="events", platform=self.platform, max_results=most
        ).results
        for start in range(0, len(results), _RECALLED_AT_ONCE):
            part = results[start : start + _RECALLED_AT_ONCE]
            sources = [result.source_event_ids[0] for result in part]
            found = every(self.zone, "events", platform=self.platform, source_event_ids=sources)
            items = {memory.id: item for memory in found if (item := _kept(memory))}
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

        Some thousands of them are one erasure.
        """
        with self.lock:
            wanted = set(paths)
            if len(wanted) <= _MANY_PATHS:
                found = [item for path in wanted for item in self._newest_first(path)]
            else:
                found = [item for item in self.newest_first() if item.path in wanted]
            self.forget([item.source_id for item in found])
            return bool(found)

    def _latest(self) -> datetime:
        """Return a time that nothing that is kept is later than: now, as a rule."""
        last = next(self._events(None, 1), None)
        now = datetime.now(UTC)
        return now if last is None else max(now, _time(last))

    def _newest_first(self, path: tuple[str, ...] | None) -> Iterator[KeptItem]:
        for memory in self._events(path, _FIRST_PAGE):
            if item := _kept(memory):
                yield item

    def _events(self, path: tuple[str, ...] | None, first: int) -> Iterator[Memory]:
        """Yield events, the last first; `first`: how many to ask for at first."""
        thread = None if path is None else _thread(path)
        return every(self.zone, "events", first=first, platform=self.platform, thread=thread)

    def _is_kept(self, source_id: str) -> bool:
        try:
            return bool(self.zone.get_memory(source_id))
        except InvalidInput:
            return False


def words_of(value: Any) -> str:
    """Return a JSON value as lines of words: each scalar with the name that it stands under."""
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


def _storable(words: str) -> str:
    """Return words as an event may hold them; the value itself is kept beside them, whole."""
    clean = words.replace("\0", "").encode("utf-8", "ignore")[:MAX_CONTENT_BYTES]
    return clean.decode("utf-8", "ignore") if clean.strip() else "(no words)"


def _thread(path: tuple[str, ...]) -> str:
    """Return a path as the name of a thread: JSON without characters that cannot be seen."""
    return json.dumps(path).replace("\x7f", "\\u007f")


def _kept(memory: Memory) -> KeptItem | None:
    """Return the value of an event; None where it holds none that we wrote."""
    said = (memory.metadata or {}).get(_VALUE)
    if not isinstance(said, str) or memory.thread_id is None:
        return None
    try:
        path, value = json.loads(memory.thread_id), json.loads(said)
    except ValueError:
        return None
    return KeptItem(memory.id, memory.source_event_ids[0], tuple(path), value, _time(memory))


def _time(memory: Memory) -> datetime:
    return datetime.fromisoformat(memory.as_of)
