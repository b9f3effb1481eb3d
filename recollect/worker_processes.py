"""The long-running processes: a worker, which decides, and a replica, which follows."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from projections.private import FILE_MODE, must_be_writable
from recollect.follower_lock import following, heartbeat
from recollect.home import Home
from recollect.ledgers import on_kafka, open_following_node, open_node
from schemas.errors import UnknownVersion
from schemas.events import Tick
from streams.agents.ticks import CLOSE_TURNS, turns_to_close
from streams.engine.node import Node
from streams.ledger import EVENTS, PARTITIONS, LedgerUnavailable
from streams.ledger.kafka.kafka_ledger import KafkaLedger
from streams.publishing.commands import command, publish_commands
from streams.workers.cluster import sequence_inbox
from streams.workers.cluster import work as work_in_cluster
from streams.workers.upkeep import Report, Upkeep

_TICK_SECONDS = 300
_BEAT_SECONDS = 1.0
_RETRY_SECONDS = 2.0


def work(home: Home, report: Report, *, once: bool = False, member: str | None = None) -> None:
    """Decide every zone as its ledger grows, and report (zone, records decided).

    A zone that cannot be driven is reported with the error, and the others go on. On Kafka this
    is one worker of many, `member` by name; `once` decides what is there, and ends.

    RECOLLECT_TICKS=off keeps it from appending ticks.

    Raises:
        HomeError: the home is read-only.
    """
    must_be_writable(home.directory)
    if once:
        _work_once(home, report)
    elif on_kafka():
        with following(home):
            ticked: dict[str, int] = {}
            work_in_cluster(
                partial(open_following_node, home, decides=True),
                report,
                member=member,
                periodic=partial(_tick, ticked) if _ticking() else None,
                heartbeat=heartbeat(home),
            )
    else:
        _work_embedded(home, report)


def follow(home: Home, report: Report) -> None:
    """Be a replica until SIGINT or SIGTERM: follow what workers decide, to answer from it.

    Raises:
        HomeError: the home is read-only.
    """
    must_be_writable(home.directory)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with following(home):
        node, ledger = open_following_node(home, decides=False)
        try:
            while not _connected(ledger, report):
                if ended.wait(_RETRY_SECONDS):
                    return
            with Upkeep(node, ledger, report, everything=True):
                while not ended.wait(_BEAT_SECONDS):
                    heartbeat(home).touch(FILE_MODE)
        finally:
            node.close()


def _connected(ledger: KafkaLedger, report: Report) -> bool:
    """Return whether there is a ledger to follow; it may come up after its replicas."""
    try:
        ledger.connect()
    except LedgerUnavailable as error:
        report("", error)
        return False
    return True


def _work_once(home: Home, report: Report) -> None:
    node = open_node(home)
    try:
        if isinstance(node.ledger, KafkaLedger):
            try:
                sequence_inbox(node.ledger, report)
            except UnknownVersion as error:
                report("", error)
        for zone in node.ledger.zones():
            _drive(node, zone, report)
    finally:
        node.close()


def _work_embedded(home: Home, report: Report) -> None:
    node = open_node(home)
    ticked: dict[str, int] = {}
    try:
        while True:
            ends = {(EVENTS, part): node.ledger.end(EVENTS, part) for part in range(PARTITIONS)}
            for zone in node.ledger.zones():
                if _ticking():
                    with _told(report, zone):
                        _tick(ticked, node, zone)
                _drive(node, zone, report)
            node.ledger.wait(ends, _TICK_SECONDS)
    finally:
        node.close()


def _drive(node: Node, zone: str, report: Report) -> None:
    with _told(report, zone):
        if decided := node.drive(zone):
            report(zone, decided)


@contextmanager
def _told(report: Report, zone: str) -> Iterator[None]:
    """Report what a zone cannot do; whatever it is, the other zones go on."""
    try:
        yield
    except Exception as error:
        report(zone, error)


def _ticking() -> bool:
    return os.environ.get("RECOLLECT_TICKS", "on") != "off"


def _tick(ticked: dict[str, int], node: Node, zone: str) -> None:
    """Append the period's tick to a zone that has changed, or has a turn that nobody ended."""
    period = int(time.time()) // _TICK_SECONDS
    at = period * _TICK_SECONDS * 1_000
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        waiting = turns_to_close(files.events.connection, files.memory.connection, number + 1, at)
    if ticked.get(zone) == number and not waiting:
        return
    tick = Tick(source_id=f"tick:{CLOSE_TURNS}:{period}", name=CLOSE_TURNS)
    (receipt,) = publish_commands(node.ledger, zone, [command(tick, at, ingested_at=at)])
    ticked[zone] = receipt.number
