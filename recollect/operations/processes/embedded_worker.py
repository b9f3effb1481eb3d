"""The worker on the embedded ledger: it decides all zones as they grow, and appends ticks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager

from recollect.home.home_directory import Home
from recollect.home.ticks.due_analyses import automatic_analyses, publish_due
from recollect.home.ticks.due_archival import archive_if_due
from recollect.home.ticks.due_consolidation import consolidates
from recollect.home.ticks.due_passes import OFF, pass_if_due
from recollect.home.ticks.due_refreshes import refresh_due_models
from recollect.schemas.errors import HomeError
from recollect.schemas.events import OwnAnalysis, Tick
from recollect.schemas.memory_terms import TierLimits
from recollect.streams.agents.consolidation.consolidator import CONSOLIDATE, clusters_to_consolidate
from recollect.streams.agents.turn_closer import CLOSE_TURNS, turns_to_close
from recollect.streams.engine.node import Node
from recollect.streams.ledger import EVENTS, PARTITIONS, partition_of
from recollect.streams.projecting.projector import OnZoneProgress
from recollect.streams.publishing.commands import command, publish_commands

TICK_SECONDS = 300
#: Facts become observations within this time.
CONSOLIDATION_SECONDS = 30
# The time slice of a zone, and the maximum wait for new records.
_SLICE_SECONDS = 1.0
# The delay before a failed zone is retried.
_RETRY_SECONDS = 5.0


class EmbeddedWorker:
    """Decides the zones of a node in time slices, first come, first served.

    Other processes may publish and decide at the same time.
    """

    def __init__(
        self,
        node: Node,
        report: OnZoneProgress,
        *,
        ticks: bool,
        profile_facts: int = 0,
        passes_hour: int = OFF,
        tier_limits: TierLimits | None = None,
        analyses: Sequence[OwnAnalysis] | None = None,
    ) -> None:
        """`ticks`: whether to append ticks. `analyses`: see `automatic_analyses`.

        `profile_facts`: see `refresh_due_models`; `passes_hour`: see `pass_if_due`; `tier_limits`:
        see `archive_if_due`, None: archive nothing.
        """
        self._node = node
        self._report = report
        self._ticks = ticks
        self._profile_facts = profile_facts
        self._passes_hour = passes_hour
        self._tier_limits = tier_limits
        self._analyses = analyses
        self._ended = threading.Event()
        self._unwritable_reported = False
        # The number of each zone's last record when its last tick was appended.
        self._ticked: dict[str, int] = {}
        # Zones that may have records to decide, with the time of the next attempt.
        self._due: dict[str, float] = {}
        # The last decided record of each zone.
        self._decided: dict[str, int] = {}

    def work(self) -> None:
        """Work until `end` is called."""
        ends = {(EVENTS, part): -1 for part in range(PARTITIONS)}
        next_tick = next_consolidation = 0.0
        while not self._ended.is_set():
            if not self._is_writable():
                self._ended.wait(_RETRY_SECONDS)
                continue
            before, ends = ends, {place: self._node.ledger.end(*place) for place in ends}
            grown = {partition for topic, partition in ends if _has_grown(ends, before, partition)}
            now = time.monotonic()
            tick_due = now >= next_tick
            if tick_due:
                next_tick = now + TICK_SECONDS
            if grown or tick_due:
                self._schedule(grown, tick_due, now)
            if now >= next_consolidation:
                next_consolidation = now + CONSOLIDATION_SECONDS
                self._consolidate(now)
            self._decide()
            next_due = min([next_tick, next_consolidation, *self._due.values()])
            wait = next_due - time.monotonic()
            if wait > 0:
                self._node.ledger.wait(ends, min(wait, _SLICE_SECONDS), self._ended)

    def end(self) -> None:
        """Make `work` return after the current record."""
        self._ended.set()

    def _is_writable(self) -> bool:
        """Return whether the home can be written; on a full disk, for example, it cannot.

        When it becomes unwritable, report that once.
        """
        try:
            self._node.must_be_writable()
        except HomeError as error:
            if not self._unwritable_reported:
                self._report("", error)
            self._unwritable_reported = True
            return False
        self._unwritable_reported = False
        return True

    def _schedule(self, grown: Set[int], tick_due: bool, now: float) -> None:
        """Schedule the zones that may have records to decide, and append ticks if due."""
        for zone in self._node.ledger.zones():
            if tick_due and self._ticks:
                with report_errors(self._report, zone):
                    tick(self._ticked, self._node, zone)
            if tick_due and self._analyses is not None:
                with report_errors(self._report, zone):
                    publish_due(self._node, zone, self._analyses, int(time.time() * 1_000))
            has_new = partition_of(zone) in grown and self._decided.get(zone) != self._head(zone)
            if tick_due or has_new:
                self._due.setdefault(zone, now)

    def _consolidate(self, now: float) -> None:
        """Append a tick to each zone that has something to consolidate."""
        for zone in self._node.ledger.zones() if self._ticks else ():
            with report_errors(self._report, zone):
                asked = [
                    consolidation_tick(self._node, zone),
                    pass_if_due(self._node, zone, self._passes_hour),
                    refresh_tick(self._node, zone, self._profile_facts),
                    self._tier_limits is not None
                    and archive_if_due(self._node, zone, self._tier_limits, _period_start()),
                ]
                if any(asked):
                    self._due.setdefault(zone, now)

    def _head(self, zone: str) -> int:
        return self._node.ledger.head(zone).number

    def _decide(self) -> None:
        """Decide the zones that are due, each for one time slice."""
        now = time.monotonic()
        for zone in [zone for zone, at in self._due.items() if at <= now]:
            if self._ended.is_set():
                return
            del self._due[zone]
            until = time.monotonic() + _SLICE_SECONDS
            head = self._head(zone)

            def in_slice(until: float = until) -> bool:
                return not self._ended.is_set() and time.monotonic() < until

            try:
                count = self._node.drive(zone, should_continue=in_slice)
                decided = self._node.decided_up_to(zone)
            except Exception as error:
                # A failed zone must not stop the others.
                self._report(zone, error)
                self._due[zone] = time.monotonic() + _RETRY_SECONDS
                continue
            if count:
                self._report(zone, count)
            if decided >= head:
                self._decided[zone] = decided
            else:
                self._due[zone] = time.monotonic()


def _has_grown(
    ends: Mapping[tuple[str, int], int], before: Mapping[tuple[str, int], int], partition: int
) -> bool:
    return ends[EVENTS, partition] > before[EVENTS, partition]


@contextmanager
def report_errors(report: OnZoneProgress, zone: str) -> Iterator[None]:
    """Report an error in a zone instead of raising it, so that the other zones continue."""
    try:
        yield
    except Exception as error:
        report(zone, error)


def tick(ticked: dict[str, int], node: Node, zone: str) -> None:
    """Append the current period's tick to a zone that has changed or has abandoned turns.

    `ticked`: zone -> its last record when its last tick was appended; this is updated.
    """
    period = int(time.time()) // TICK_SECONDS
    at = period * TICK_SECONDS * 1_000
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        abandoned = turns_to_close(files.events.connection, files.memory.connection, number + 1, at)
    if ticked.get(zone) == number and not abandoned:
        return
    tick_ = Tick(source_id=f"tick:{CLOSE_TURNS}:{period}", name=CLOSE_TURNS)
    (receipt,) = publish_commands(node.ledger, zone, [command(tick_, at, ingested_at=at)])
    ticked[zone] = receipt.number


def consolidation_tick(node: Node, zone: str) -> bool:
    """Append the period's tick if an observation of a zone is due; return whether one is due."""
    if not consolidates(node, zone):
        return False
    with node.open(zone, node.current(zone)) as files:
        if not clusters_to_consolidate(files.memory.connection):
            return False
    period = int(time.time()) // CONSOLIDATION_SECONDS
    at = period * CONSOLIDATION_SECONDS * 1_000
    tick_ = Tick(source_id=f"tick:{CONSOLIDATE}:{period}", name=CONSOLIDATE)
    publish_commands(node.ledger, zone, [command(tick_, at, ingested_at=at)])
    return True


def refresh_tick(node: Node, zone: str, profile_facts: int) -> bool:
    """Refresh the mental models of a zone that are due; return whether any is due."""
    return refresh_due_models(node, zone, profile_facts, _period_start())


def _period_start() -> int:
    """Return the beginning of the current period of consolidation (unix ms)."""
    return int(time.time()) // CONSOLIDATION_SECONDS * CONSOLIDATION_SECONDS * 1_000


def periodic_work(home: Home) -> Callable[[Node, str], None] | None:
    """Return the work of a worker in a zone every `CONSOLIDATION_SECONDS`, or None."""
    ticks, analyses = home.configuration.ticks, automatic_analyses(home)
    ticked: dict[str, int] = {}
    if not ticks and analyses is None:
        return None

    def work(node: Node, zone: str) -> None:
        is_due = int(time.time()) % TICK_SECONDS < CONSOLIDATION_SECONDS
        if ticks:
            consolidation_tick(node, zone)
            pass_if_due(node, zone, home.configuration.passes_hour)
            refresh_tick(node, zone, home.configuration.profile_facts)
            archive_if_due(node, zone, home.configuration.tier_limits, _period_start())
            if is_due:
                tick(ticked, node, zone)
        if analyses is not None and is_due:
            publish_due(node, zone, analyses, int(time.time() * 1_000))

    return work
