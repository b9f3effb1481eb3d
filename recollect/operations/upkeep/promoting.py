"""Promoting a home: its embedded ledger moves to Kafka, with every zone in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext

import msgspec

from recollect.home.follower_lock import hold_follower_lock
from recollect.home.home_directory import Home
from recollect.home.ledgers import EMBEDDED, encoder_name, node_of, reader_name
from recollect.projections.file_permissions import require_writable
from recollect.schemas.errors import HomeError, InvalidInput
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.lifecycle import promotion
from recollect.streams.projecting.projector import OnProgress

#: Called with the number of steps; returns a function that shows how many are done.
Show = Callable[[int], AbstractContextManager[OnProgress]]


class Promoted(msgspec.Struct, frozen=True):
    """Where a home's ledger is now, and how many records and keys of it are there."""

    to: str
    events: int
    changes: int
    recordings: int
    keys: int


def promote(
    home: Home, url: str, show: Show = lambda steps: nullcontext(lambda done: None)
) -> Promoted:
    """Move a home's embedded ledger to the Kafka ledger `url`.

    The home stays as it is until everything is copied and compared. After an interruption,
    promoting again goes on where it stopped.

    Raises:
        InvalidInput: `url` is none, or the settings name another ledger than the embedded.
        HomeError: the ledger has moved already, or the topics hold something else; or the home is
            read-only.
        Busy: another process works with this home, or on the topics.
        LedgerUnavailable: the brokers cannot be reached.
    """
    require_writable(home.directory)
    settings = home.configuration.kafka(url)
    setting, place = home.configuration.resolve("ledger")
    if setting != EMBEDDED:
        raise InvalidInput(
            f"the ledger {setting!r} ({place}): what moves is the embedded ledger of a home; leave "
            "the setting out"
        )
    with hold_follower_lock(home), promotion.exclusive_files(home.directory) as own:
        _check(home, settings.url, own)
        if embedded := own.moved_to() is None:
            # It may be left from an attempt to move elsewhere.
            shutil.rmtree(home.directory / "copy", ignore_errors=True)
        ledger = KafkaLedger(
            settings,
            home.directory / "copy",
            encoder=encoder_name(home),
            reader=reader_name(home),
            agents=home.settings.agents,
            secret=own.keys.secret,
        )
        with closing(node_of(home, ledger, decides=True)) as node:
            counts = own.count()
            if embedded:
                with show(own.step_count()) as progress:
                    promotion.copy_ledger(own, ledger, progress)
                own.mark_moved(settings.url)
            promotion.publish_active_chains(node)
            home.record_promotion(settings.url)
            own.clear()
    return Promoted(settings.url, **msgspec.structs.asdict(counts))


def _check(home: Home, url: str, own: promotion.EmbeddedFiles) -> None:
    """Raise if the ledger has moved, except if a move to `url` is unfinished."""
    promoted = home.settings.promoted_to
    moved = own.moved_to() or promoted
    undone = promoted is None or any(own.ends().values())
    if moved is not None and not (undone and moved == url):
        raise HomeError(
            f"the ledger of {home.directory} was moved to {moved}: set RECOLLECT_LEDGER to that"
        )
    zones = {path.parent.name for path in (home.directory / "zones").glob("*/CURRENT")}
    if moved is None and (others := zones - set(own.file.zones())):
        raise HomeError(
            f"zone {min(others)} of {home.directory} comes from another ledger than the embedded "
            f"one: set RECOLLECT_LEDGER to that"
        )
