"""Maintenance of a zone: rebuild, rollback, verify, reclaim, and dead letters."""

from __future__ import annotations

import time
from contextlib import suppress

import apsw
import msgspec

from recollect.home.open_zone import OpenZone, row_counts
from recollect.operations.erasure import certifying
from recollect.operations.ingestion.ingesting import command
from recollect.projections.embeddings.vector_queries import vector_count
from recollect.projections.events.event_queries import event_count
from recollect.projections.generations import Generation
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
    Certificate,
    DeadLetter,
    DeadLetterOutcome,
    RebuildLevel,
    RebuildReport,
    ReclaimReport,
    RollbackReport,
    Verification,
    WriteReport,
)
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.publishing.commands import random_id
from recollect.streams.records.heads import ExpectedHead

# Errors that a damaged file may raise on first use.
_DAMAGE = (CorruptFile, IntegrityError, apsw.CorruptError, apsw.NotADBError, apsw.SQLError)


def rebuild(
    zone: OpenZone,
    level: RebuildLevel,
    *,
    dry_run: bool = False,
    compare: bool = False,
    encoder: str | None = None,
    consolidation: bool | None = None,
    writer_role: str | None = None,
    progress: OnProgress | None = None,
) -> RebuildReport:
    """Rebuild a derived layer; the old one stays in use until the new one is complete.

    `compare` (levels derive and fresh): only report the differences, and do not activate it.
    `encoder` (level fresh): the name of one of the home's encoders; None: the encoder in use.
    `consolidation` (levels derive and fresh): whether the zone consolidates facts; None: as before.
    `writer_role` (levels derive and fresh): have the model read all messages under this role. The
    role replaces the one in use, and the facts found under it replace the model's earlier facts.
    """
    if level not in ("derive", "fresh"):
        if compare:
            raise InvalidInput(
                f"level {level!r} derives nothing from the events again, so there is nothing to "
                "compare; use level 'derive' or 'fresh'"
            )
        for name, value in (("consolidation", consolidation), ("writer_role", writer_role)):
            if value is not None:
                raise InvalidInput(
                    f"level {level!r} derives nothing from the events again, so `{name}` would "
                    f"have no effect; use level 'derive' or 'fresh', or leave `{name}` out"
                )
    if encoder is not None and level != "fresh":
        raise InvalidInput(
            f"level {level!r} computes no embeddings; use level 'fresh', or leave `encoder` out"
        )
    if encoder is not None and zone.node.ledger.shared:
        raise InvalidInput(
            "encoder: on Kafka all zones have one encoder, that of the ledger; leave it out"
        )
    model = None if encoder is None else zone.open_home.home.model_named(encoder)
    zone.must_exist()
    # Imported here: they load the agents and the client of language models, which a query does
    # not need.
    from recollect.home.ticks.after_import import append_due_commands
    from recollect.operations.writing.rereading import (
        estimate_reading,
        read_all,
        set_role_beside,
    )

    if dry_run:
        return RebuildReport(
            level=level,
            records=records_to_read(zone),
            encoded=vectors_to_encode(zone) if level == "fresh" else 0,
            dry_run=True,
            written=None if writer_role is None else estimate_reading(zone, writer_role),
        )
    started = time.monotonic()
    try:
        # After a change of agents, only the rebuild itself can decide the pending events.
        with suppress(AgentMismatch):
            zone.decide()
    except HistoryMismatch:
        # The files may hold the only copy of records that the ledger has lost.
        raise
    except _DAMAGE:
        # The rebuild replaces the damaged files, and decides the pending events.
        if level != "project":
            raise
    written: WriteReport | None = None

    def prepare(generation: Generation) -> str | None:
        """Read and consolidate in the new generation what is not yet in the ledger for it."""
        nonlocal written
        stopped = None
        with zone.open_home.beside(zone.name, generation) as built:
            if writer_role is not None:
                written, stopped = read_all(built, progress)
            append_due_commands(built, of_files=False)
        return stopped

    changes_agents = consolidation is not None or writer_role is not None
    from recollect.streams.lifecycle import rebuilding

    rebuilt = rebuilding.rebuild(
        zone.node,
        zone.name,
        level,
        progress,
        compare=compare,
        encoder=model,
        consolidation=consolidation,
        writer_role=None if writer_role is None else set_role_beside(zone, writer_role),
        prepare=prepare if changes_agents else None,
    )
    with suppress(AgentMismatch):
        zone.decide()
    zone.node.close_removed()
    seconds = round(time.monotonic() - started, 3)
    return msgspec.structs.replace(rebuilt, seconds=seconds, written=written)


def records_to_read(zone: OpenZone) -> int:
    """Return the number of ledger records that a rebuild reads."""
    zone.must_exist()
    from recollect.streams.lifecycle import rebuilding

    return rebuilding.records_to_read(zone.node, zone.name)


def vectors_to_encode(zone: OpenZone) -> int:
    """Return the number of vectors that a rebuild at level `fresh` makes.

    That is the number of those in use, or of events and facts in a zone that has none yet.
    """
    with zone.files() as files:
        if files.embeddings.model is None:
            return event_count(files.events.connection) + row_counts(files)["facts"]
        return vector_count(files.embeddings.connection)


def rollback(zone: OpenZone, progress: OnProgress | None = None) -> RollbackReport:
    """Return to the previous generation, and bring it up to date."""
    zone.must_exist()
    from recollect.streams.lifecycle import rebuilding

    return RollbackReport(rebuilding.rollback(zone.node, zone.name, progress).name)


def verify(
    zone: OpenZone,
    expect: str | None = None,
    progress: OnProgress | None = None,
    certificate: Certificate | None = None,
) -> Verification:
    """Replay the ledger and compare the result with every read model; change nothing.

    `expect`: an earlier head that the ledger must contain. `certificate`: an erasure
    certificate to check too.
    """
    expected = None if expect is None else ExpectedHead.read(expect)
    if expected is None:
        zone.must_exist()
    from recollect.streams.lifecycle import verifying

    verification = verifying.verify(zone.node, zone.name, progress, expected)
    if certificate is None:
        return verification
    checked = certifying.check(zone, certificate, verification)
    return msgspec.structs.replace(
        verification, ok=verification.ok and checked.ok, certificate=checked
    )


def reclaim(zone: OpenZone, *, dry_run: bool = False) -> ReclaimReport:
    """Remove the change records of unused chains from the ledger.

    Raises:
        InvalidInput: the ledger is not the embedded one.
    """
    zone.must_exist()
    from recollect.streams.lifecycle import reclaiming

    return reclaiming.reclaim(zone.node, zone.name, dry_run=dry_run)


def dead_letters(zone: OpenZone) -> list[DeadLetter]:
    """Return the parked records."""
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
    _require_parked(zone, number)
    command(zone, Retry(source_id=random_id(f"retry:{number}"), number=number))
    return DeadLetterOutcome(number, _is_parked(zone, number))


def drop(zone: OpenZone, number: int) -> DeadLetterOutcome:
    """Discard a parked record; in the result, `parked` is false once it is discarded.

    Raises:
        UnknownId: no record with this number is parked.
    """
    _require_parked(zone, number)
    command(zone, Drop(source_id=random_id(f"drop:{number}"), number=number))
    return DeadLetterOutcome(number, _is_parked(zone, number))


def _is_parked(zone: OpenZone, number: int) -> bool:
    return number in {letter.number for letter in dead_letters(zone)}


def _require_parked(zone: OpenZone, number: int) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise InvalidInput(
            f"number {number!r}: give the record number of a dead letter; `dead_letters` lists them"
        )
    if not _is_parked(zone, number):
        raise UnknownId(f"zone {zone.name} has no dead letter {number}; `dead_letters` lists them")
