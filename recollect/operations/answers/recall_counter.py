"""Access counts: how often memories are recalled, appended to the ledger periodically.

Counting adds some microseconds to a recall. A killed process loses the counts that it has not
appended yet; nothing is counted twice.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from recollect.home.open_zone import OpenHome, OpenZone
from recollect.operations.answers import recalling
from recollect.projections.memory.facts_for_recall import event_facts
from recollect.projections.memory.listing.stored_memory_list import stored_ids
from recollect.schemas.events import RecallCount
from recollect.schemas.wire import Result

#: Seconds between appends.
PERIOD = 60.0
# The maximum number of counts in a record.
_MAX_PER_RECORD = 1_000
_COUNTED = frozenset({"fact", "observation", "mental_model", "memory"})

_log = logging.getLogger("recollect")


class AccessCounts:
    """The counts of an open home, by zone; thread-safe. A background thread appends them."""

    def __init__(self, open_home: OpenHome) -> None:
        self._open_home = open_home
        self._lock = threading.Lock()
        self._counts: dict[str, Counter[tuple[str, str]]] = {}
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def count_results(self, zone: str, results: Sequence[Result]) -> None:
        """Count each result once, and each supporting fact of an observation."""
        self.count(zone, targets_of(results))

    def count_memories(self, zone: str, ids: Sequence[str]) -> None:
        """Count each of these stored memories once."""
        self.count(zone, (("memory", id_) for id_ in ids))

    def count(self, zone: str, memories: Iterable[tuple[str, str]]) -> None:
        """Count each memory, given by type and id, once."""
        with self._lock:
            self._counts.setdefault(zone, Counter()).update(memories)
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="recollect-accesses", daemon=True
                )
                self._thread.start()

    def flush(self) -> None:
        """Append the counts, and drop them if that fails: a retry might count them twice."""
        with self._lock:
            counts, self._counts = self._counts, {}
        for name, zone_counts in counts.items():
            try:
                with self._open_home.call_guard():
                    _append(self._open_home.zone(name), zone_counts)
            except Exception as error:
                # Queries must not fail because of this, and the next append may succeed.
                _log.warning(
                    "zone %s: the access counts of the latest recalls could not be stored and were "
                    "dropped: %s",
                    name,
                    type(error).__name__,
                )

    def close(self) -> None:
        """Append the remaining counts, and end the thread."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        self.flush()

    def _run(self) -> None:
        while not self._closed.wait(PERIOD):
            self.flush()


def targets_of(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return the type and id of each result and of its supporting facts."""
    found: list[tuple[str, str]] = [(result.type, result.id) for result in results]
    found += [("fact", fact.id) for result in results for fact in result.facts]
    return found


def _append(zone: OpenZone, counts: Counter[tuple[str, str]]) -> None:
    """Append counts as `recalled` commands; a turn counts for each fact stated in it."""
    if zone.open_home.has_follower or not zone.node.writes or not zone.exists():
        # This process does not write to the home's zones, or the zone has no events.
        return
    total: Counter[tuple[str, str]] = Counter()
    events = {id_: count for (kind, id_), count in counts.items() if kind == "event"}
    with zone.files() as files:
        facts_by_event = event_facts(files.memory.connection, sorted(events))
        stored = stored_ids(files.memory.connection, sorted(events))
    for event, facts in facts_by_event.items():
        total.update({("fact", fact): events[event] for fact in facts.stated})
    total.update({("memory", id_): events[id_] for id_ in stored})
    total.update({target: count for target, count in counts.items() if target[0] in _COUNTED})
    accesses = [RecallCount(kind, id_, count) for (kind, id_), count in sorted(total.items())]
    for first in range(0, len(accesses), _MAX_PER_RECORD):
        recalling.record_accesses(zone, accesses[first : first + _MAX_PER_RECORD])
