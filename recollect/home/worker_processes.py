"""The long-running processes: a worker, which decides, and a replica, which follows."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial

from recollect.home.embedded_worker import EmbeddedWorker, reporting, tick
from recollect.home.follower_lock import following, heartbeat
from recollect.home.home_directory import Home
from recollect.home.ledgers import on_kafka, open_following_node, open_node
from recollect.home.open_zone import OpenHome
from recollect.operations.writing.background_writing import writes_meanwhile, written_meanwhile
from recollect.projections.private import FILE_MODE, must_be_writable
from recollect.schemas.errors import Busy, NewerFormat
from recollect.schemas.wire import WriteReport
from recollect.streams.engine.node import Node
from recollect.streams.ledger import LedgerUnavailable
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.workers.cluster import sequence_inbox
from recollect.streams.workers.cluster import work as work_in_cluster
from recollect.streams.workers.upkeep import Report, Upkeep

_log = logging.getLogger(__name__)
_BEAT_SECONDS = 1.0
_RETRY_SECONDS = 2.0


def work(home: Home, report: Report, *, once: bool = False, member: str | None = None) -> None:
    """Decide every zone as its ledger grows, and report (zone, records decided).

    A zone that cannot be driven is reported with the error, and the others go on. On Kafka this
    is one worker of many, `member` by name; `once` decides what is there, and ends.

    The setting `ticks` says whether it appends ticks.

    Raises:
        HomeError: the home is read-only.
    """
    must_be_writable(home.directory)
    if once:
        _work_once(home, report)
    elif on_kafka(home):
        with following(home):
            _work_in_cluster(home, report, member)
    else:
        _work_embedded(home, report)


def follow(home: Home, report: Report) -> None:
    """Be a replica until SIGINT or SIGTERM: follow the changes of workers, and answer.

    Raises:
        HomeError: the home is read-only.
    """
    must_be_writable(home.directory)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with following(home):
        _keep_up(home, report, ended)


@contextmanager
def followed_meanwhile(home: Home, report: Report) -> Iterator[None]:
    """Be a replica on a thread until the block ends; where another process is one, leave it to it.

    Raises:
        HomeError: the home is read-only.
    """
    must_be_writable(home.directory)
    ended = threading.Event()
    with ExitStack() as held:
        try:
            held.enter_context(following(home))
        except Busy:
            yield
            return
        keeping_up = threading.Thread(target=_keep_up, args=(home, report, ended), name="follow")
        keeping_up.start()
        try:
            yield
        finally:
            ended.set()
            keeping_up.join()


def _keep_up(home: Home, report: Report, ended: threading.Event) -> None:
    """Bring the home up to the ledger until that is ended."""
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
            except NewerFormat as error:
                report("", error)
        for zone in node.ledger.zones():
            _drive(node, zone, report)
    finally:
        node.close()


def _work_in_cluster(home: Home, report: Report, member: str | None) -> None:
    """Be one of the workers; the home's model reads what is said in the zones of its partitions."""
    ticked: dict[str, int] = {}
    owns = None
    with ExitStack() as held:
        if writes_meanwhile(home):
            opened = held.enter_context(closing(OpenHome(home)))
            owns = held.enter_context(written_meanwhile(opened, _unsaid, _unwritten, frozenset()))
        work_in_cluster(
            partial(open_following_node, home, decides=True),
            report,
            member=member,
            periodic=partial(tick, ticked) if home.configuration.ticks else None,
            owns=owns,
            heartbeat=heartbeat(home),
        )


def _work_embedded(home: Home, report: Report) -> None:
    with closing(OpenHome(home)) as opened, written_meanwhile(opened, _unsaid, _unwritten):
        EmbeddedWorker(opened.node, report, ticks=home.configuration.ticks).work()


def _unsaid(_: str, __: WriteReport) -> None:
    """Say nothing of what a model wrote; `status` counts it."""


def _unwritten(zone: str, error: Exception) -> None:
    """Say why no model writes; the zone is decided without."""
    _log.warning("%s: the model does not write: %s", f"zone {zone}" if zone else "home", error)


def _drive(node: Node, zone: str, report: Report) -> None:
    with reporting(report, zone):
        if decided := node.drive(zone):
            report(zone, decided)
