"""Values of other programs, each kept as an event: its words are recalled, its value comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

from recollect.library.library_zone import Zone
from recollect.operations.ingestion.ingesting import AnyEvent
from recollect.schemas.errors import InvalidInput, UnknownZone
from recollect.schemas.inbound import MAX_CONTENT_BYTES
from recollect.schemas.wire import Memory, MemoryPage

#: The key of an event's metadata that holds the value, as JSON text: so any value can be kept,
#: whatever characters and numbers it holds.
_VALUE = "kept_value"
_PAGE = 1_000
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
            events: list[AnyEvent] = []
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
            ids = [str(event["id"]) for event in events]  # type: ignore[index]
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
        return next(self._newest_first(path, 1), None)

    def under(self, path: tuple[str, ...], *, last: int | None = None) -> list[KeptItem]:
        """Return the values under a path, the first first; `last`: at most so many, the last."""
        found: list[KeptItem] = []
        for item in self._newest_first(path, _PAGE if last is None else max(1, min(last, _PAGE))):
            if last is not None and len(found) >= last:
                break
            found.append(item)
        return found[::-1]

    def every(self) -> list[KeptItem]:
        """Return all values of the platform, the first first."""
        return list(self._newest_first(None, _PAGE))[::-1]

    def forget(self, ids: Sequence[str]) -> None:
        """Erase values by their source ids, for good."""
        if ids:
            self.zone.forget(*ids, platform=self.platform)

    def forget_under(self, path: tuple[str, ...]) -> bool:
        """Erase all values under a path, for good; return whether there were any."""
        with self.lock:
            if self.newest(path) is None:
                return False
            self.zone.forget(thread=_thread(path), platform=self.platform)
            return True

    def _latest(self) -> datetime:
        """Return a time that nothing that is kept is later than: now, as a rule."""
        now = datetime.now().astimezone()
        return max([now, *(_time(memory) for memory in self._page(None, None, 1).memories)])

    def _page(self, path: tuple[str, ...] | None, cursor: str | None, limit: int) -> MemoryPage:
        thread = None if path is None else _thread(path)
        try:
            return self.zone.list_memories(
                "events", platform=self.platform, thread=thread, cursor=cursor, limit=limit
            )
        except UnknownZone:
            # A service answers so for a zone that holds nothing yet.
            return MemoryPage(memories=[])

    def _newest_first(self, path: tuple[str, ...] | None, limit: int) -> Iterator[KeptItem]:
        cursor = None
        while True:
            page = self._page(path, cursor, limit)
            for memory in page.memories:
                if item := _kept(memory):
                    yield item
            cursor = page.cursor
            if cursor is None:
                return

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
