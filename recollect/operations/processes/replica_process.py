"""A replica: a home that follows what workers on Kafka decide, in this process or on a thread."""

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

_BEAT_SECONDS = 1.0
_RETRY_SECONDS = 2.0


def follow(home: Home, report: OnZoneProgress) -> None:
    """Be a replica until SIGINT or SIGTERM: follow the changes of workers, and answer.

    Raises:
        HomeError: the home is read-only.
    """
    require_writable(home.directory)
    raise_open_file_limit()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with hold_follower_lock(home):
        _keep_up(home, report, ended)


@contextmanager
def followed_meanwhile(home: Home, report: OnZoneProgress) -> Iterator[None]:
    """Be a replica on a thread until the block ends; where another process is one, leave it to it.

    Raises:
        HomeError: the home is read-only.
    """
    require_writable(home.directory)
    ended = threading.Event()
    with ExitStack() as held:
        try:
            held.enter_context(hold_follower_lock(home))
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


def _keep_up(home: Home, report: OnZoneProgress, ended: threading.Event) -> None:
    """Bring the home up to the ledger until that is ended."""
    node, ledger = open_following_node(home, decides=False)
    try:
        while not _connected(ledger, report):
            if ended.wait(_RETRY_SECONDS):
                return
        with ZoneMaintenance(node, ledger, report, follow_all=True):
            while not ended.wait(_BEAT_SECONDS):
                heartbeat_file(home).touch(FILE_MODE)
    finally:
        node.close()


def _connected(ledger: KafkaLedger, report: OnZoneProgress) -> bool:
    """Return whether there is a ledger to follow; it may come up after its replicas."""
    try:
        ledger.connect()
    except LedgerUnavailable as error:
        report("", error)
        return False
    return True
