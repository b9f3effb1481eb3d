"""The worker: a process that decides published events, on either ledger."""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

from recollect.home.follower_lock import heartbeat_file, hold_follower_lock
from recollect.home.home_directory import Home
from recollect.home.ledgers import on_kafka, open_following_node, open_node
from recollect.home.open_zone import OpenHome
from recollect.home.ticks.due_analyses import automatic_analyses
from recollect.operations.processes.embedded_worker import (
    EmbeddedWorker,
    periodic_work,
    report_errors,
)
from recollect.operations.writing.background_writing import (
    writes_in_background,
    writing_in_background,
)
from recollect.projections.file_permissions import require_writable
from recollect.schemas.errors import NewerFormat
from recollect.schemas.wire import WriteReport
from recollect.streams.engine.node import Node
from recollect.streams.system.extras import needed
from recollect.streams.system.open_files import raise_open_file_limit

# Imported for types only: the embedded ledger does not need the Kafka client.
if TYPE_CHECKING:
    from recollect.streams.projecting.projector import OnZoneProgress

_log = logging.getLogger(__name__)


def work(
    home: Home, report: OnZoneProgress, *, once: bool = False, member: str | None = None
) -> None:
    """Decide all zones as the ledger grows, and report (zone, number of decided records).

    An error in a zone is reported as (zone, error), and the other zones continue. On Kafka, this
    process is a member of the group of workers. `once`: decide the pending records, then return.
    `member`: the static member name. Ticks are appended if the setting `ticks` is on.

    Raises:
        HomeError: the home is read-only.
        MissingExtra: the ledger is on Kafka, and the client is not installed.
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
    """Sequence the events that clients have published to the inbox."""
    from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
    from recollect.streams.workers.kafka_worker import sequence_inbox

    assert isinstance(node.ledger, KafkaLedger)
    try:
        sequence_inbox(node.ledger, report)
    except NewerFormat as error:
        report("", error)


def _work_in_cluster(home: Home, report: OnZoneProgress, member: str | None) -> None:
    """Run a member of the group; the home's model writes for the zones of its partitions."""
    with needed("kafka"):
        from recollect.streams.workers.kafka_worker import run_worker as run_kafka_worker

    owns = None
    with ExitStack() as stack:
        if writes_in_background(home):
            opened = stack.enter_context(closing(OpenHome(home)))
            owns = stack.enter_context(
                writing_in_background(opened, _ignore_report, _warn_unwritten, frozenset())
            )
        run_kafka_worker(
            partial(open_following_node, home, decides=True),
            report,
            member=member,
            periodic=periodic_work(home),
            on_ownership=owns,
            heartbeat=heartbeat_file(home),
        )


def _work_embedded(home: Home, report: OnZoneProgress) -> None:
    with (
        closing(OpenHome(home)) as opened,
        writing_in_background(opened, _ignore_report, _warn_unwritten),
    ):
        EmbeddedWorker(
            opened.node,
            report,
            ticks=home.configuration.ticks,
            profile_facts=home.configuration.profile_facts,
            passes_hour=home.configuration.passes_hour,
            tier_limits=home.configuration.tier_limits,
            analyses=automatic_analyses(home),
        ).work()


def _ignore_report(_: str, __: WriteReport) -> None:
    """Do not report the model's usage, since `status` counts it."""


def _warn_unwritten(zone: str, error: Exception) -> None:
    """Log why the language model could not be used; the zone is decided by the rules alone."""
    where = f"zone {zone}" if zone else "home"
    _log.warning("%s: the language model could not be used: %s", where, error)


def _drive(node: Node, zone: str, report: OnZoneProgress) -> None:
    with report_errors(report, zone):
        if count := node.drive(zone):
            report(zone, count)
