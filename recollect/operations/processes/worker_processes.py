"""The worker: a process that decides what is published, on either ledger."""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from recollect.home.follower_lock import heartbeat_file, hold_follower_lock
from recollect.home.home_directory import Home
from recollect.home.ledgers import on_kafka, open_following_node, open_node
from recollect.home.open_zone import OpenHome
from recollect.operations.processes.embedded_worker import EmbeddedWorker, reporting, tick
from recollect.operations.writing.background_writing import writes_meanwhile, written_meanwhile
from recollect.projections.file_permissions import require_writable
from recollect.schemas.errors import NewerFormat
from recollect.schemas.wire import WriteReport
from recollect.streams.engine.node import Node
from recollect.streams.system.extras import needed
from recollect.streams.system.open_files import raise_open_file_limit

# With the embedded ledger the Kafka client need not be there.
if TYPE_CHECKING:
    from recollect.streams.projecting.projector import OnZoneProgress

_log = logging.getLogger(__name__)


def work(
    home: Home, report: OnZoneProgress, *, once: bool = False, member: str | None = None
) -> None:
    """Decide every zone as its ledger grows, and report (zone, records decided).

    A zone that cannot be driven is reported with the error, and the others go on. On Kafka this
    is one worker of many, `member` by name; `once` decides what is there, and ends.

    The setting `ticks` says whether it appends ticks.

    Raises:
        HomeError: the home is read-only.
        MissingExtra: the ledger is on Kafka, and its client is missing.
    """
    require_writable(home.directory)
    raise_open_file_limit()
    if once:
        _work_once(home, report)
    elif on_kafka(home):
        with hold_follower_lock(home):
            _work_in_cluster(home, report, member)
    else:
        _work_embedded(home, report)


def _work_once(home: Home, report: OnZoneProgress) -> None:
    node = open_node(home)
    try:
        if on_kafka(home):
            _sequence(node, report)
        for zone in node.ledger.zones():
            _drive(node, zone, report)
    finally:
        node.close()


def _sequence(node: Node, report: OnZoneProgress) -> None:
    """Take in what clients have published on Kafka."""
    from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
    from recollect.streams.workers.kafka_worker import sequence_inbox

    assert isinstance(node.ledger, KafkaLedger)
    try:
        sequence_inbox(node.ledger, report)
    except NewerFormat as error:
        report("", error)


def _work_in_cluster(home: Home, report: OnZoneProgress, member: str | None) -> None:
    """Be one of the workers; the home's model reads what is said in the zones of its partitions."""
    with needed("kafka"):
        from recollect.streams.workers.kafka_worker import run_worker as run_kafka_worker

    ticked: dict[str, int] = {}
    owns = None
    with ExitStack() as held:
        if writes_meanwhile(home):
            opened = held.enter_context(closing(OpenHome(home)))
            owns = held.enter_context(written_meanwhile(opened, _unsaid, _unwritten, frozenset()))
        run_kafka_worker(
            partial(open_following_node, home, decides=True),
            report,
            member=member,
            periodic=partial(tick, ticked) if home.configuration.ticks else None,
            on_ownership=owns,
            heartbeat=heartbeat_file(home),
        )


def _work_embedded(home: Home, report: OnZoneProgress) -> None:
    with closing(OpenHome(home)) as opened, written_meanwhile(opened, _unsaid, _unwritten):
        EmbeddedWorker(opened.node, report, ticks=home.configuration.ticks).work()


def _unsaid(_: str, __: WriteReport) -> None:
    """Say nothing of what a model wrote; `status` counts it."""


def _unwritten(zone: str, error: Exception) -> None:
    """Say why no model writes; the zone is decided without."""
    _log.warning("%s: the model does not write: %s", f"zone {zone}" if zone else "home", error)


def _drive(node: Node, zone: str, report: OnZoneProgress) -> None:
    with reporting(report, zone):
        if decided := node.drive(zone):
            report(zone, decided)
