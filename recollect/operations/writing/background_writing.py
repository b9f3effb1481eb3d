"""Background writing: a home's model processes new events while a service or worker runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager

from recollect.home.home_directory import Home
from recollect.home.open_zone import OpenHome
from recollect.operations.memories.derived.dreaming import dream_if_due
from recollect.operations.writing.analysis_writing import analyse_if_due
from recollect.operations.writing.model_backlog import ModelBacklog
from recollect.operations.writing.writing import open_client, write
from recollect.schemas.errors import Busy, Unavailable
from recollect.schemas.wire import WriteReport
from recollect.streams.ledger import EVENTS, PARTITIONS, partition_of
from recollect.streams.models.model_client import ModelClient

#: Called with a zone and the report of a run over it.
OnWritten = Callable[[str, WriteReport], None]
#: Called with a zone and an error; the zone is "" if the error concerns no particular zone.
OnFailed = Callable[[str, Exception], None]
#: Called with the partitions whose zones are processed from now on.
SetOwned = Callable[[Set[int]], None]

_POLL_SECONDS = 0.5
#: Seconds before the first retry after a failure, and the maximum; each further pause is twice as
#: long.
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 600.0
#: Seconds after which a new run begins; each run has the full budget.
_RUN_SECONDS = 3_600.0
_ALL = frozenset(range(PARTITIONS))


@contextmanager
def writing_in_background(
    open_home: OpenHome, on_written: OnWritten, on_failed: OnFailed, owned: Set[int] = _ALL
) -> Iterator[SetOwned]:
    """Let the home's model process new events on a thread until the block ends.

    The model processes the zones of the partitions `owned`. Yields a function that replaces these
    partitions.
    On Kafka each partition belongs to one worker at a time, so that no event is processed twice.
    Does nothing if the home's writer is `rules`, if the settings disable background writing, or if
    the home is read-only.
    """
    if not writes_in_background(open_home.home) or not open_home.node.writes:
        yield lambda _: None
        return
    writer = _BackgroundWriter(open_home, on_written, on_failed, owned)
    thread = threading.Thread(target=writer.run, name="background-writer")
    thread.start()
    try:
        yield writer.set_owned
    finally:
        writer.stop()
        thread.join()


def writes_in_background(home: Home) -> bool:
    """Return whether a home's model processes new events without a command."""
    return home.writer == "model" and home.configuration.models().background


class _BackgroundWriter:
    """Processes the zones of a home in turn, a few events at a time."""

    def __init__(
        self, open_home: OpenHome, on_written: OnWritten, on_failed: OnFailed, owned: Set[int]
    ) -> None:
        self._open_home = open_home
        self._owned = owned
        self._on_written = on_written
        self._on_failed = on_failed
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._client: ModelClient | None = None
        self._client_expires = 0.0
        self._ends: dict[int, int] = {}
        #: Zone that may have new events -> when to process it next (monotonic seconds).
        self._waiting: dict[str, float] = {}
        self._pauses: dict[str, float] = {}
        self._backlogs: dict[str, ModelBacklog] = {}
        #: Zone -> number of an event that the next run skips -> whether all later runs skip it too.
        self._skipped: dict[str, dict[int, bool]] = {}

    def run(self) -> None:
        """Process zones until `stop` is called."""
        while not self._stopped.is_set():
            try:
                self._find_zones()
                self._pauses.pop("", None)
                now = time.monotonic()
                for zone in [zone for zone, due in self._waiting.items() if due <= now]:
                    if self._stopped.is_set():
                        break
                    self._process(zone)
            except Exception as error:
                self._pause("", error)
            due = min(self._waiting.values(), default=time.monotonic() + _POLL_SECONDS)
            self._stopped.wait(min(max(due - time.monotonic(), 0.0), _POLL_SECONDS))
        self._close_client()

    def set_owned(self, partitions: Set[int]) -> None:
        """Process only the zones of these partitions from now on."""
        self._owned = partitions

    def stop(self) -> None:
        """Make `run` return soon, even while it waits for an answer."""
        self._stopped.set()
        self._close_client()

    def _find_zones(self) -> None:
        """Add zones with new events or in new partitions; drop those in lost partitions."""
        ledger = self._open_home.node.ledger
        ends = {part: ledger.end(EVENTS, part) for part in self._owned}
        for zone in [zone for zone in self._waiting if partition_of(zone) not in ends]:
            for by_zone in (self._waiting, self._pauses, self._backlogs, self._skipped):
                by_zone.pop(zone, None)
        grown = {part for part, end in ends.items() if end != self._ends.get(part)}
        if grown:
            for zone in ledger.zones():
                if partition_of(zone) in grown:
                    self._waiting.setdefault(zone, 0.0)
        self._ends = ends

    def _is_active(self, zone: str) -> bool:
        return not self._stopped.is_set() and partition_of(zone) in self._owned

    def _process(self, zone: str) -> None:
        """Let the model process some events of a zone."""
        if not self._open_home.holds(zone):
            # A worker of this home is just creating the zone's files.
            self._waiting[zone] = time.monotonic() + _POLL_SECONDS
            return
        before = self._skipped.get(zone, {})
        skipped = dict(before)
        node = self._open_home.node
        try:
            client = self._open_client()
            report = write(
                self._open_home.zone(zone),
                limit=client.settings.concurrency,
                client=client,
                while_=lambda: self._is_active(zone),
                skipped=skipped,
                backlog=self._backlogs.setdefault(zone, ModelBacklog(node.ledger, zone)),
            )
        except Busy:
            # Another process is running `write`.
            self._waiting[zone] = time.monotonic() + _FIRST_PAUSE
            return
        except Exception as error:
            # Any error pauses only this zone.
            self._pause(zone, error)
            return
        # A failed event is skipped once, so that others come first; a rejected event, permanently.
        self._skipped[zone] = {
            number: is_rejected
            for number, is_rejected in skipped.items()
            if is_rejected or number not in before
        }
        if not report.pending:
            try:
                dream_if_due(self._open_home.zone(zone), client)
                analysed = analyse_if_due(
                    self._open_home.zone(zone), client, lambda: self._is_active(zone)
                )
            except Exception as error:
                self._pause(zone, error)
                return
            if analysed.stopped is not None:
                self._pause(zone, Unavailable(analysed.stopped))
                return
            if self._skipped[zone] == skipped:
                del self._waiting[zone]
                self._pauses.pop(zone, None)
            else:
                self._waiting[zone] = time.monotonic() + self._pauses.get(zone, _FIRST_PAUSE)
            return
        self._on_written(zone, report)
        if report.stopped or report.processed < report.pending:
            reason = report.stopped or "requests were rejected, or their events erased meanwhile"
            self._pause(zone, Unavailable(reason))
        else:
            self._pauses.pop(zone, None)

    def _pause(self, zone: str, error: Exception) -> None:
        """Report an error and pause its zone ("": all zones), twice as long as the last time."""
        if self._stopped.is_set() or (zone and not self._is_active(zone)):
            return
        self._on_failed(zone, error)
        pause = min(self._pauses.get(zone, _FIRST_PAUSE / 2) * 2, _LONGEST_PAUSE)
        self._pauses[zone] = pause
        if zone:
            self._waiting[zone] = time.monotonic() + pause
        else:
            self._stopped.wait(pause)

    def _open_client(self) -> ModelClient:
        """Return the client of the current run; a new run begins every `_RUN_SECONDS`."""
        now = time.monotonic()
        with self._lock:
            if self._client is None or now >= self._client_expires:
                home, before = self._open_home.home, self._client
                self._client = open_client(home.configuration, home.directory)
                if before is not None:
                    self._client.adopt_cooldowns(before)
                    before.close()
                self._client_expires = now + _RUN_SECONDS
            return self._client

    def _close_client(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
