"""Operations for a zone's upkeep: status, verify, rebuild, dead letters."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion import ingesting
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import DryRun, RecordNumber, described
from recollect.operations.upkeep import maintenance, zone_status
from recollect.schemas.wire import (
    Certificate,
    DeadLetter,
    DeadLetterOutcome,
    RebuildLevel,
    RebuildReport,
    ReclaimReport,
    RollbackReport,
    Status,
    Verification,
)
from recollect.streams.projecting.projector import OnProgress

_AT = "2026-05-08T13:56:00.000Z"
_HEAD = "1:9463884db74ae79f5dbbfc5455274810"
_STATUS = {
    "zone": "ada",
    "generation": "g000001",
    "events": 1,
    "facts": 1,
    "entities": 2,
    "episodes": 3,
    "observations": 0,
    "dead_letters": 0,
    "lag": 0,
    "lag_seconds": 0.0,
    "seconds_since_progress": 0.8,
    "stalled": False,
    "models": [{"model": "memory", "watermark": 1}],
    "encoder": None,
    "head": _HEAD,
    "agents": ["own"],
    "model_usage": None,
    "problem": None,
}
_LETTER = {
    "number": 17,
    "kind": "message",
    "reason": "it was tried three times",
    "state": "parked",
    "parked_at": 1778248560000,
}
_LETTERS, _UPKEEP = "dead letters", "operations"


def _running(kind: str) -> dict[str, Any]:
    return {
        "id": "9b1f0c2ab94d5e6f70c1d2e3",
        "kind": kind,
        "state": "running",
        "done": 512,
        "total": 5880,
        "created_at": _AT,
        "started_at": _AT,
        "ended_at": None,
        "detail": None,
        "result": None,
    }


@operation("GET /status", right="read", title="Status", tag="zones", example=(None, _STATUS))
def status(zone: OpenZone) -> Status:
    """Return the zone's counts, watermarks and lag.

    >>> zone.status().events
    2
    """
    return zone_status.status(zone)


@operation(
    "GET /consistency-token",
    right="read",
    title="Consistency token",
    tag="zones",
    response_field="token",
    example=(None, {"token": "4:1:1"}),
)
def consistency_token(zone: OpenZone) -> str:
    """Return a token for all events stored here so far; `wait_for` waits until they are processed.

    >>> len(zone.consistency_token().split(":"))
    3
    """
    return ingesting.consistency_token(zone)


@operation(
    "POST /verify",
    right="admin",
    status=202,
    long_running=True,
    title="Verify",
    tag=_UPKEEP,
    example=({}, _running("verify")),
)
def verify(
    zone: OpenZone,
    *,
    expect: Annotated[
        Annotated[str, Meta(max_length=1_000)] | None,
        described(description="An earlier head from status, which the ledger must contain."),
    ] = None,
    certificate: Annotated[
        Certificate | None, described(description="An erasure certificate of this zone to check.")
    ] = None,
    progress: OnProgress | None = None,
) -> Verification:
    """Replay the ledger and compare every read model with the result; nothing changes.

    `expect`: an earlier head, which the ledger must contain. `certificate`: an erasure certificate
    to check. It must be unmodified, it and its erasure must be in the ledger, and all keys that it
    lists must be destroyed.

    >>> zone.verify().ok
    True
    """
    return maintenance.verify(zone, expect, progress, certificate)


@operation(
    "POST /rebuild",
    right="admin",
    status=202,
    long_running=True,
    title="Rebuild",
    tag=_UPKEEP,
    example=({"level": "project", "dry_run": True}, _running("rebuild")),
)
def rebuild(
    zone: OpenZone,
    level: Annotated[
        RebuildLevel,
        described(
            description="What to rebuild. index: search indexes from the rows; project: every file "
            "from the change records; derive: decide all events again, with recorded vectors and "
            "completions; fresh: decide and embed all events again."
        ),
    ] = "project",
    *,
    dry_run: DryRun = False,
    compare: Annotated[
        bool,
        described(
            description="For derive and fresh: build the new generation without activating it, and "
            "report how it differs from the active one."
        ),
    ] = False,
    encoder: Annotated[
        Annotated[str, Meta(max_length=300)] | None,
        described(
            description="For fresh: the encoder, one of the home's; that of the active generation "
            "by default."
        ),
    ] = None,
    consolidation: Annotated[
        bool | None,
        described(
            description="For derive and fresh: whether the zone consolidates facts into "
            "observations; as in the active generation by default."
        ),
    ] = None,
    writer_role: Annotated[
        Annotated[str, Meta(max_length=20_000)] | None,
        described(
            description="For derive and fresh: a role for the home's language model, which reads "
            "all messages under it. Empty: recollect's own role."
        ),
    ] = None,
    progress: OnProgress | None = None,
) -> RebuildReport:
    """Rebuild a derived layer; the old one stays in use until the new one is complete.

    `index`: search indexes from the rows. `project`: every file from the change records.
    `derive`: decide all events again, with recorded vectors. `fresh`: decide and embed all again.

    With `compare` (derive and fresh) the new generation is built but not activated, and the report
    says how it differs from the active one; the same level without `compare` activates it.

    `encoder` (fresh): a name of one of the home's encoders; `recollect init --add-encoder` adds
    one. The zone keeps it from then on, until a rollback or a rebuild with another one. The
    same holds for `consolidation` (derive and fresh).

    `writer_role` (derive and fresh): the text of a role for the language model, which reads all
    messages under it. The new generation has its facts in place of those that the model gave under
    other roles. If a spending limit is reached or no model answers, `stopped` says so, and the
    generation is not activated; the same rebuild resumes it. No answer is paid for twice.

    Raises:
        Busy: another rebuild of this zone is running.
        InvalidInput: the home has no such encoder or no language model, or the level does not use
            an argument.

    >>> zone.rebuild("project").level
    'project'
    """
    return maintenance.rebuild(
        zone,
        level,
        dry_run=dry_run,
        compare=compare,
        encoder=encoder,
        consolidation=consolidation,
        writer_role=writer_role,
        progress=progress,
    )


@operation(
    "POST /rollback",
    right="admin",
    status=202,
    long_running=True,
    title="Roll back",
    tag=_UPKEEP,
    example=(None, _running("rollback")),
)
def rollback(zone: OpenZone, progress: OnProgress | None = None) -> RollbackReport:
    """Return to the generation before the last rebuild, and bring it up to date.

    Raises:
        HomeError: there is no earlier generation.

    >>> before = zone.status().generation
    >>> done = zone.rebuild("derive")
    >>> zone.rollback().generation == before
    True
    """
    return maintenance.rollback(zone, progress)


@operation(
    "POST /reclaim",
    right="admin",
    status=202,
    long_running=True,
    title="Reclaim",
    tag=_UPKEEP,
    example=({"dry_run": True}, _running("reclaim")),
)
def reclaim(zone: OpenZone, *, dry_run: DryRun = False) -> ReclaimReport:
    """Remove change records that no generation needs from the embedded ledger; events stay.

    Raises:
        InvalidInput: the ledger is not embedded.

    >>> zone.reclaim(dry_run=True).records
    0
    """
    return maintenance.reclaim(zone, dry_run=dry_run)


@operation(
    "GET /dead-letters",
    right="admin",
    title="List dead letters",
    tag=_LETTERS,
    response_field="dead_letters",
    example=(None, {"dead_letters": [_LETTER]}),
)
def dead_letters(zone: OpenZone) -> list[DeadLetter]:
    """Return the dead letters: records that could not be processed.

    >>> zone.dead_letters()
    []
    """
    return maintenance.dead_letters(zone)


@operation(
    "POST /dead-letters/{number}/retry",
    right="admin",
    title="Retry a dead letter",
    tag=_LETTERS,
    example=(None, {"number": 17, "parked": False}),
)
def retry(zone: OpenZone, number: RecordNumber) -> DeadLetterOutcome:
    """Process a dead letter again; `parked` in the result is true if that fails again.

    Raises:
        UnknownId: no record with this number is parked.

    >>> zone.retry(17)
    Traceback (most recent call last):
    recollect.schemas.errors.UnknownId: zone ada has no dead letter 17; `dead_letters` lists them
    """
    return maintenance.retry(zone, number)


@operation(
    "POST /dead-letters/{number}/drop",
    right="admin",
    title="Drop a dead letter",
    tag=_LETTERS,
    example=(None, {"number": 17, "parked": False}),
)
def drop(zone: OpenZone, number: RecordNumber) -> DeadLetterOutcome:
    """Discard a dead letter; `parked` in the result is false once it is discarded.

    Raises:
        UnknownId: no record with this number is parked.

    >>> zone.drop(17)
    Traceback (most recent call last):
    recollect.schemas.errors.UnknownId: zone ada has no dead letter 17; `dead_letters` lists them
    """
    return maintenance.drop(zone, number)


class UpkeepOperations:
    """The status and upkeep of a zone."""

    status = status
    consistency_token = consistency_token
    verify = verify
    rebuild = rebuild
    rollback = rollback
    reclaim = reclaim
    dead_letters = dead_letters
    retry = retry
    drop = drop
