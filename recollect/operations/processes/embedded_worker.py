"""The worker on the embedded ledger: it decides every zone as the ledger grows, and ticks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager

from recollect.schemas.errors import HomeError
from recollect.schemas.events import Tick
from recollect.streams.agents.turn_closer import CLOSE_TURNS, turns_to_close
from recollect.streams.engine.node import Node
from recollect.streams.ledger import EVENTS, PARTITIONS, partition_of
from recollect.streams.projecting.projector import OnZoneProgress
from recollect.streams.publishing.commands import command, publish_commands

TICK_SECONDS = 300
# As long as a zone is decided before it is another's turn, and an end is noticed.
_TURN_SECONDS = 1.0
# How long until a zone that has stopped is tried again.
_RETRY_SECONDS = 5.0


class EmbeddedWorker:
    """Decides the zones of a node, each for a while, in the order in which they came.

    Other processes may publish, and decide, at the same time.
    """

    def __init__(self, node: Node, report: OnZoneProgress, *, ticks: bool) -> None:
        """`ticks`: it appends them."""
        self._node = node
        self._report = report
        self._ticks = ticks
        self._ended = threading.Event()
        self._without_room = False
        self._ticked: dict[str, int] = {}
        #: Zones that may have something to decide, and when they are to be tried.
        self._waiting: dict[str, float] = {}
        #: Up to which record each zone is decided.
        self._done: dict[str, int] = {}

    def work(self) -> None:
        """Work until `end` is called."""
        ends = {(EVENTS, part): -1 for part in range(PARTITIONS)}
        next_tick = 0.0
        while not self._ended.is_set():
            if not self._has_room():
                self._ended.wait(_RETRY_SECONDS)
                continue
            before, ends = ends, {place: self._node.ledger.end(*place) for place in ends}
            moved = {partition for topic, partition in ends if _ahead(ends, before, partition)}
            now = time.monotonic()
            due = now >= next_tick
            if due:
                next_tick = now + TICK_SECONDS
            if moved or due:
                self._look(moved, due, now)
            self._decide()
            left = min([next_tick, *self._waiting.values()]) - time.monotonic()
            if left > 0:
                self._node.ledger.wait(ends, min(left, _TURN_SECONDS))

    def end(self) -> None:
        """Have `work` return, after what it is at now."""
        self._ended.set()

    def _has_room(self) -> bool:
        """Return whether anything can be written; where it cannot, what there is to decide waits.

        It is reported once.
        """
        try:
            self._node.must_be_writable()
        except HomeError as error:
            if not self._without_room:
                self._report("", error)
            self._without_room = True
            return False
        self._without_room = False
        return True

    def _look(self, moved: Set[int], due: bool, now: float) -> None:
        """Note which zones may have something to decide, and tick where that is due."""
        for zone in self._node.ledger.zones():
            if due and self._ticks:
                with reporting(self._report, zone):
                    tick(self._ticked, self._node, zone)
            new = partition_of(zone) in moved and self._done.get(zone) != self._head(zone)
            if due or new:
                self._waiting.setdefault(zone, now)

    def _head(self, zone: str) -> int:
        return self._node.ledger.head(zone).number

    def _decide(self) -> None:
        """Decide the zones that wait, each for a while."""
        now = time.monotonic()
        for zone in [zone for zone, since in self._waiting.items() if since <= now]:
            if self._ended.is_set():
                return
            del self._waiting[zone]
            until = time.monotonic() + _TURN_SECONDS
            head = self._head(zone)

            def in_turn(until: float = until) -> bool:
                return not self._ended.is_set() and time.monotonic() < until

            try:
                decided = self._node.drive(zone, should_continue=in_turn)
                done = self._node.decided_up_to(zone)
            except Exception as error:
                # Whatever it is, the other zones go on.
                self._report(zone, error)
                self._waiting[zone] = time.monotonic() + _RETRY_SECONDS
                continue
            if decided:
                self._report(zone, decided)
            if done >= head:
                self._done[zone] = done
            else:
                self._waiting[zone] = time.monotonic()


def _ahead(
    ends: Mapping[tuple[str, int], int], before: Mapping[tuple[str, int], int], partition: int
) -> bool:
    return ends[EVENTS, partition] > before[EVENTS, partition]


@contextmanager
def reporting(report: OnZoneProgress, zone: str) -> Iterator[None]:
    """Report what a zone cannot do; whatever it is, the other zones go on."""
    try:
        yield
    except Exception as error:
        report(zone, error)


def tick(ticked: dict[str, int], node: Node, zone: str) -> None:
    """Append the period's tick to a zone that has changed, or has a turn that nobody ended."""
    period = int(time.time()) // TICK_SECONDS
    at = period * TICK_SECONDS * 1_000
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        waiting = turns_to_close(files.events.connection, files.memory.connection, number + 1, at)
    if ticked.get(zone) == number and not waiting:
        return
    tick_ = Tick(source_id=f"tick:{CLOSE_TURNS}:{period}", name=CLOSE_TURNS)
    (receipt,) = publish_commands(node.ledger, zone, [command(tick_, at, ingested_at=at)])
    ticked[zone] = receipt.number
