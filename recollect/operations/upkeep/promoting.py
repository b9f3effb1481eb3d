"""Promotion of a home: its embedded ledger moves to Kafka, with all its zones."""

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

#: Called with the total number of steps; yields a function to call with the number of steps done.
Show = Callable[[int], AbstractContextManager[OnProgress]]


class PromotionReport(msgspec.Struct, frozen=True):
    """The URL of the new ledger, and the number of records and keys moved there."""

    to: str
    events: int
    changes: int
    recordings: int
    keys: int


def promote(
    home: Home, url: str, show: Show = lambda steps: nullcontext(lambda done: None)
) -> PromotionReport:
    """Move a home's embedded ledger to the Kafka ledger `url`.

    The home is unchanged until everything is copied and compared. After an interruption, promoting
    again continues where it stopped.

    Raises:
        InvalidInput: `url` is invalid, or the settings name a ledger other than the embedded one.
        HomeError: the ledger was already moved elsewhere, the topics contain other records, or the
            home is read-only.
        Busy: another process uses this home or the topics.
        LedgerUnavailable: the brokers cannot be reached.
    """
    require_writable(home.directory)
    settings = home.configuration.kafka(url)
    setting, origin = home.configuration.resolve("ledger")
    if setting != EMBEDDED:
        raise InvalidInput(
            f"the ledger is set to {setting!r} ({origin}), but `promote` moves a home's embedded "
            "ledger; remove the setting"
        )
    with hold_follower_lock(home), promotion.exclusive_files(home.directory) as files:
        _check(home, settings.url, files)
        if embedded := files.moved_to() is None:
            # An interrupted promotion to another URL may have left this copy.
            shutil.rmtree(home.directory / "copy", ignore_errors=True)
        ledger = KafkaLedger(
            settings,
            home.directory / "copy",
            encoder=encoder_name(home),
            reader=reader_name(home),
            agents=home.settings.agents,
            secret=files.keys.secret,
        )
        with closing(node_of(home, ledger, decides=True)) as node:
            counts = files.count()
            if embedded:
                with show(files.step_count()) as progress:
                    promotion.copy_ledger(files, ledger, progress)
                files.mark_moved(settings.url)
            promotion.publish_active_chains(node)
            home.record_promotion(settings.url)
            files.clear()
    return PromotionReport(settings.url, **msgspec.structs.asdict(counts))


def _check(home: Home, url: str, files: promotion.EmbeddedFiles) -> None:
    """Raise HomeError if the ledger was moved, unless a move to `url` is unfinished."""
    promoted_to = home.settings.promoted_to
    moved_to = files.moved_to() or promoted_to
    is_unfinished = promoted_to is None or any(files.ends().values())
    if moved_to is not None and not (is_unfinished and moved_to == url):
        raise HomeError(
            f"the ledger of {home.directory} was moved; set RECOLLECT_LEDGER to {moved_to}"
        )
    if home.settings.further_encoders:
        models = ", ".join(pin.model for pin in home.settings.encoders)
        raise HomeError(
            f"{home.directory} has the encoders {models}, but on Kafka all zones share one; export "
            "the zones into a home with one encoder, and promote that"
        )
    zones = {path.parent.name for path in (home.directory / "zones").glob("*/CURRENT")}
    if moved_to is None and (others := zones - set(files.file.zones())):
        raise HomeError(
            f"zone {min(others)} of {home.directory} comes from a ledger other than the embedded "
            f"one: set RECOLLECT_LEDGER to the URL of that ledger"
        )
