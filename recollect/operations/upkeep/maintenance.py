"""Maintenance of a zone: rebuild, rollback, verify, reclaim, and parked records."""

from __future__ import annotations

import time
from contextlib import suppress

import apsw
import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.errors import (
    AgentMismatch,
    CorruptFile,
    HistoryMismatch,
    IntegrityError,
    InvalidInput,
    UnknownId,
)
from recollect.schemas.events import Drop, Retry
from recollect.schemas.wire import (
    DeadLetter,
    DeadLetterOutcome,
    RebuildLevel,
    RebuildReport,
    ReclaimReport,
    RollbackReport,
    Verification,
)
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.publishing.commands import random_id
from recollect.streams.records.heads import ExpectedHead

LEVELS: tuple[RebuildLevel, ...] = ("index", "project", "derive", "fresh")

# Errors that the first use of a damaged file may raise.
_DAMAGE = (CorruptFile, IntegrityError, apsw.CorruptError, apsw.NotADBError, apsw.SQLError)


def rebuild(
    zone: OpenZone,
    level: RebuildLevel,
    *,
    dry_run: bool = False,
    compare: bool = False,
    progress: OnProgress | None = None,
) -> RebuildReport:
    """Make a derived layer again; the old one is used until it is done.

    With `compare` (levels derive and fresh) it is used after that too.
    """
    if level not in LEVELS:
        raise InvalidInput(f"level {level!r}: choose from {', '.join(LEVELS)}")
    if compare and level not in ("derive", "fresh"):
        raise InvalidInput(
            f"level {level!r} decides nothing, so there is nothing to compare; "
            "compare at level derive or fresh"
        )
    zone.must_exist()
    if dry_run:
        return RebuildReport(level=level, records=records_to_read(zone), dry_run=True)
    started = time.monotonic()
    try:
        # Whom other agents decided is decided by this home's with the derivation, if at all.
        with suppress(AgentMismatch):
            zone.decide()
    except HistoryMismatch:
        # Records that the ledger lost may only be in these files.
        raise
    except _DAMAGE:
        # The rebuild makes damaged files again, and decides waiting events.
        if level != "project":
            raise
    from recollect.streams.lifecycle import rebuilding

    rebuilt = rebuilding.rebuild(zone.node, zone.name, level, progress, compare=compare)
    with suppress(AgentMismatch):
        zone.decide()
    zone.node.close_removed()
    seconds = round(time.monotonic() - started, 3)
    return msgspec.structs.replace(rebuilt, seconds=seconds)


def records_to_read(zone: OpenZone) -> int:
    """Return how many ledger records a rebuild reads."""
    zone.must_exist()
    from recollect.streams.lifecycle import rebuilding

    return rebuilding.records_to_read(zone.node, zone.name)


def rollback(zone: OpenZone, progress: OnProgress | None = None) -> RollbackReport:
    """Go back to the generation before, brought up to date."""
    zone.must_exist()
    from recollect.streams.lifecycle import rebuilding

    return RollbackReport(rebuilding.rollback(zone.node, zone.name, progress).name)


def verify(
    zone: OpenZone, expect: str | None = None, progress: OnProgress | None = None
) -> Verification:
    """Replay the ledger and compare every read model with what comes out; change nothing.

    `expect` is a head of an earlier moment that the ledger must hold.
    """
    expected = None if expect is None else ExpectedHead.read(expect)
    if expected is None:
        zone.must_exist()
    from recollect.streams.lifecycle import verifying

    return verifying.verify(zone.node, zone.name, progress, expected)


def reclaim(zone: OpenZone, *, dry_run: bool = False) -> ReclaimReport:
    """Remove change records of chains that are no longer needed from the ledger.

    Raises:
        InvalidInput: the ledger is not the embedded one.
    """
    zone.must_exist()
    from recollect.streams.lifecycle import reclaiming

    return reclaiming.reclaim(zone.node, zone.name, dry_run=dry_run)


def dead_letters(zone: OpenZone) -> list[DeadLetter]:
    """Return the records that are parked."""
    if not zone.exists():
        return []
    with zone.files() as files:
        return [
            DeadLetter(**msgspec.structs.asdict(letter))
            for letter in memory.dead_letters(files.memory.connection)
        ]


def retry(zone: OpenZone, number: int) -> DeadLetterOutcome:
    """Decide a parked record again; return whether it is still parked.

    Raises:
        UnknownId: no record with this number is parked.
    """
    _must_be_parked(zone, number)
    command(zone, Retry(source_id=random_id(f"retry:{number}"), number=number))
    return DeadLetterOutcome(number, _is_parked(zone, number))


def drop(zone: OpenZone, number: int) -> DeadLetterOutcome:
    """Give a parked record up; return whether it is still parked.

    Raises:
        UnknownId: no record with this number is parked.
    """
    _must_be_parked(zone, number)
    command(zone, Drop(source_id=random_id(f"drop:{number}"), number=number))
    return DeadLetterOutcome(number, _is_parked(zone, number))


def _is_parked(zone: OpenZone, number: int) -> bool:
    return number in {letter.number for letter in dead_letters(zone)}


def _must_be_parked(zone: OpenZone, number: int) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise InvalidInput(f"number {number!r}: give that of a parked record, as dead_letters does")
    if not _is_parked(zone, number):
        raise UnknownId(f"zone {zone.name} has no parked record {number}; dead_letters lists them")
