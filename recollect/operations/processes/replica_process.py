"""A replica, which follows the decisions of Kafka workers: as a process or on a thread."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from recollect.home.follower_lock import heartbeat_file, hold_follower_lock
from recollect.home.home_directory import Home
from recollect.home.ledgers import open_following_node
from recollect.projections.file_permissions import FILE_MODE, require_writable
from recollect.schemas.errors import Busy
from recollect.streams.ledger import LedgerUnavailable
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.projecting.projector import OnZoneProgress
from recollect.streams.system.open_files import raise_open_file_limit
from recollect.streams.workers.zone_maintenance import ZoneMaintenance

_HEARTBEAT_SECONDS = 1.0
_RETRY_SECONDS = 2.0


def follow(home: Home, report: OnZoneProgress) -> None:
    """Run as a replica until SIGINT or SIGTERM, and keep the home up to date with the workers.

    Raises:
        HomeError: the home is read-only.
    """
    require_writable(home.directory)
    raise_open_file_limit()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with hold_follower_lock(home):
        _follow(home, report, ended)


@contextmanager
def following(home: Home, report: OnZoneProgress) -> Iterator[None]:
    """Run a replica on a thread during the block, unless another process already follows.

    Raises:
        HomeError: the home is read-only.
    """
    require_writable(home.directory)
    ended = threading.Event()
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_follower_lock(home))
        except Busy:
            yield
            return
        follower = threading.Thread(target=_follow, args=(home, report, ended), name="follow")
        follower.start()
        try:
            yield
        finally:
            ended.set()
            follower.join()


def _follow(home: Home, report: OnZoneProgress, ended: threading.Event) -> None:
    """Keep the home up to date with the ledger until `ended` is set."""
    node, ledger = open_following_node(home, decides=False)
    try:
        while not _connect(ledger, report):
            if ended.wait(_RETRY_SECONDS):
                return
        with ZoneMaintenance(node, ledger, report, follow_all=True):
            while not ended.wait(_HEARTBEAT_SECONDS):
                heartbeat_file(home).touch(FILE_MODE)
    finally:
        node.close()


def _connect(ledger: KafkaLedger, report: OnZoneProgress) -> bool:
    """Try to connect; report a failure and return False, since brokers may start later."""
    try:
        ledger.connect()
    except LedgerUnavailable as error:
        report("", error)
        return False
    return True
