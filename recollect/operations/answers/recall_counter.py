"""Access counts (A3, B1): what was recalled is counted in memory, and appended now and then.

Counting costs a recall some microseconds. What a process that is killed had not appended yet is
lost, and nothing is counted twice.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence

from recollect.home.open_zone import OpenHome, OpenZone
from recollect.operations.answers import recalling
from recollect.projections.memory.facts_for_recall import event_facts
from recollect.schemas.events import RecallCount
from recollect.schemas.wire import Result

#: Seconds between two appends.
PERIOD = 60.0
# One record holds so many; a busy minute is several.
_MAX_PER_RECORD = 1_000
_COUNTED = frozenset({"fact", "observation", "mental_model"})

_log = logging.getLogger("recollect")


class AccessCounts:
    """The counts of an open home, by zone. Any thread may note; one of its own appends."""

    def __init__(self, open_home: OpenHome) -> None:
        self._open_home = open_home
        self._lock = threading.Lock()
        self._counts: dict[str, Counter[tuple[str, str]]] = {}
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, zone: str, results: Sequence[Result]) -> None:
        """Count each of some results once; facts that come with an observation too."""
        self.note_found(zone, targets_of(results))

    def note_found(self, zone: str, found: Iterable[tuple[str, str]]) -> None:
        """Count memories that were found once each, by type and id."""
        with self._lock:
            self._counts.setdefault(zone, Counter()).update(found)
            if self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="recollect-accesses", daemon=True
                )
                self._thread.start()

    def flush(self) -> None:
        """Append what was counted. What cannot be appended is dropped: counted again, it might
        be counted twice.
        """
        with self._lock:
            counts, self._counts = self._counts, {}
        for name, counted in counts.items():
            try:
                with self._open_home.call_guard():
                    _append(self._open_home.zone(name), counted)
            except Exception as error:
                # Whoever asks is answered all the same, and the next counts are tried anew.
                _log.warning("access counts of a zone were not kept: %s", type(error).__name__)

    def close(self) -> None:
        """Append what was counted, and end."""
        self._ended.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        self.flush()

    def _run(self) -> None:
        while not self._ended.wait(PERIOD):
            self.flush()


def targets_of(results: Sequence[Result]) -> list[tuple[str, str]]:
    """Return the type and id of each of some results, and of the facts that come with them."""
    found: list[tuple[str, str]] = [(result.type, result.id) for result in results]
    found += [("fact", fact.id) for result in results for fact in result.facts]
    return found


def _append(zone: OpenZone, counted: Counter[tuple[str, str]]) -> None:
    """Append counts as `recalled`: of a turn, each fact that it gave was recalled."""
    if zone.open_home.has_follower or not zone.node.writes or not zone.exists():
        # Another process decides this home's zones, or nobody does.
        return
    total: Counter[tuple[str, str]] = Counter()
    events = {id_: count for (kind, id_), count in counted.items() if kind == "event"}
    with zone.files() as files:
        given = event_facts(files.memory.connection, sorted(events))
    for event, facts in given.items():
        total.update({("fact", fact): events[event] for fact in facts.stated})
    total.update({target: count for target, count in counted.items() if target[0] in _COUNTED})
    accesses = [RecallCount(kind, id_, count) for (kind, id_), count in sorted(total.items())]
    for first in range(0, len(accesses), _MAX_PER_RECORD):
        recalling.record_accesses(zone, accesses[first : first + _MAX_PER_RECORD])
