"""Writing in the background: a home's language model reads what is said while a process runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager

from recollect.home.home_directory import Home
from recollect.home.open_zone import OpenHome
from recollect.operations.writing.model_backlog import Unread
from recollect.operations.writing.writing import open_door, write
from recollect.schemas.errors import Busy, Unavailable
from recollect.schemas.wire import WriteReport
from recollect.streams.ledger import EVENTS, PARTITIONS, partition_of
from recollect.streams.models.model_client import ModelClient

#: Called with a zone and what a model wrote of it.
Wrote = Callable[[str, WriteReport], None]
#: Called with a zone, or with "" where it is of no one, and why nobody writes.
Failed = Callable[[str, Exception], None]
#: Called with the partitions whose zones are read from now on.
Own = Callable[[Set[int]], None]

_LOOK_SECONDS = 0.5
#: After a failure it is tried again so much later, then twice as late each time, up to the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0
#: The budgets of a run are those of so long.
_RUN_SECONDS = 3_600.0
_ALL = frozenset(range(PARTITIONS))


@contextmanager
def written_meanwhile(
    open_home: OpenHome, wrote: Wrote, failed: Failed, owned: Set[int] = _ALL
) -> Iterator[Own]:
    """Let the home's model read what is said, on a thread, until the block ends.

    It reads the zones of the partitions `owned`, and the block gets what changes these: on Kafka
    each is one worker's at a time, so that nobody asks twice. Nobody reads where the home's writer
    are the rules alone, where the setting says no, or in a home that is read-only.
    """
    if not writes_meanwhile(open_home.home) or not open_home.node.writes:
        yield lambda _: None
        return
    worker = _Writing(open_home, wrote, failed, owned)
    thread = threading.Thread(target=worker.work, name="write-meanwhile")
    thread.start()
    try:
        yield worker.own
    finally:
        worker.end()
        thread.join()


def writes_meanwhile(home: Home) -> bool:
    """Return whether a home's model is to read what is said without a command."""
    return home.writer == "model" and home.configuration.models().background


class _Writing:
    """Reads the zones of a home in turn, a few events of each."""

    def __init__(self, open_home: OpenHome, wrote: Wrote, failed: Failed, owned: Set[int]) -> None:
        self._open_home = open_home
        self._owned = owned
        self._wrote = wrote
        self._failed = failed
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._door: ModelClient | None = None
        self._door_until = 0.0
        self._ends: dict[int, int] = {}
        #: Zones that may have something to read, and when they are to be tried.
        self._waiting: dict[str, float] = {}
        self._pauses: dict[str, float] = {}
        self._unread: dict[str, Unread] = {}
        #: Events of each zone that are left out of its next turn, and whether it is for good.
        self._aside: dict[str, dict[int, bool]] = {}

    def work(self) -> None:
        """Work until `end` is called."""
        while not self._ended.is_set():
            try:
                self._look()
                self._pauses.pop("", None)
                now = time.monotonic()
                for zone in [zone for zone, since in self._waiting.items() if since <= now]:
                    if self._ended.is_set():
                        break
                    self._in_turn(zone)
            except Exception as error:
                self._pause("", error)
            due = min(self._waiting.values(), default=time.monotonic() + _LOOK_SECONDS)
            self._ended.wait(min(max(due - time.monotonic(), 0.0), _LOOK_SECONDS))
        self._close_door()

    def own(self, partitions: Set[int]) -> None:
        """Read the zones of these partitions from now on, and of no others."""
        self._owned = partitions

    def end(self) -> None:
        """Have `work` return soon, also where it waits for an answer."""
        self._ended.set()
        self._close_door()

    def _look(self) -> None:
        """Note the zones of which more was said, and those that came to this process or left it."""
        ledger = self._open_home.node.ledger
        ends = {part: ledger.end(EVENTS, part) for part in self._owned}
        for zone in [zone for zone in self._waiting if partition_of(zone) not in ends]:
            for kept in (self._waiting, self._pauses, self._unread, self._aside):
                kept.pop(zone, None)
        moved = {part for part, end in ends.items() if end != self._ends.get(part)}
        if moved:
            for zone in ledger.zones():
                if partition_of(zone) in moved:
                    self._waiting.setdefault(zone, 0.0)
        self._ends = ends

    def _goes_on(self, zone: str) -> bool:
        return not self._ended.is_set() and partition_of(zone) in self._owned

    def _in_turn(self, zone: str) -> None:
        """Let the model read some events of a zone."""
        if not self._open_home.holds(zone):
            # The worker of this home makes its files at this moment.
            self._waiting[zone] = time.monotonic() + _LOOK_SECONDS
            return
        before = self._aside.get(zone, {})
        aside = dict(before)
        node = self._open_home.node
        try:
            door = self._opened()
            report = write(
                self._open_home.zone(zone),
                limit=door.settings.concurrency,
                door=door,
                while_=lambda: self._goes_on(zone),
                aside=aside,
                unread=self._unread.setdefault(zone, Unread(node.ledger, zone)),
            )
        except Busy:
            # Somebody runs `write`.
            self._waiting[zone] = time.monotonic() + _FIRST_PAUSE
            return
        except Exception as error:
            # Whatever it is, the other zones go on.
            self._pause(zone, error)
            return
        # What nobody answered lets others go first, once.
        self._aside[zone] = {
            number: refused for number, refused in aside.items() if refused or number not in before
        }
        if not report.pending:
            if self._aside[zone] == aside:
                del self._waiting[zone]
            else:
                self._waiting[zone] = time.monotonic() + self._pauses.get(zone, _FIRST_PAUSE)
            return
        self._wrote(zone, report)
        if report.stopped or report.processed < report.pending:
            because = report.stopped or "what was asked was refused, or was forgotten meanwhile"
            self._pause(zone, Unavailable(because))
        else:
            self._pauses.pop(zone, None)

    def _pause(self, zone: str, error: Exception) -> None:
        """Tell why nobody writes, and have a zone wait; each time twice as long."""
        if self._ended.is_set() or (zone and not self._goes_on(zone)):
            return
        self._failed(zone, error)
        pause = min(self._pauses.get(zone, _FIRST_PAUSE / 2) * 2, _LONGEST_PAUSE)
        self._pauses[zone] = pause
        if zone:
            self._waiting[zone] = time.monotonic() + pause
        else:
            self._ended.wait(pause)

    def _opened(self) -> ModelClient:
        """Return the door of this hour."""
        now = time.monotonic()
        with self._lock:
            if self._door is None or now >= self._door_until:
                home, before = self._open_home.home, self._door
                self._door = open_door(home.configuration, home.directory)
                if before is not None:
                    self._door.adopt_cooldowns(before)
                    before.close()
                self._door_until = now + _RUN_SECONDS
            return self._door

    def _close_door(self) -> None:
        with self._lock:
            if self._door is not None:
                self._door.close()
