"""Operations on backfills: a language model reads a span of the past."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import DryRun, described
from recollect.schemas.wire import BackfillReport, Time
from recollect.streams.projecting.projector import OnProgress

_BACKFILL = {
    "state": "paused",
    "model": "small-model",
    "platform": "imessage",
    "first": "2024-01-01T00:00:00.000Z",
    "last": None,
    "platforms": [
        {
            "platform": "imessage",
            "episodes": 120,
            "messages": 9_412,
            "tokens": 690_118,
            "first": "2024-01-01T08:12:00.000Z",
            "last": "2026-05-08T13:56:00.000Z",
        }
    ],
    "episodes": 120,
    "episodes_done": 31,
    "messages": 9_412,
    "messages_done": 2_480,
    "seconds": 1_653.2,
    "rate": 1.5,
    "seconds_left": 4_621.3,
    "written": None,
}


@operation(
    "POST /backfill",
    right="admin",
    status=202,
    long_running=True,
    title="Backfill",
    tag="writer",
    example=(
        {"platform": "imessage", "first": "2024-01-01", "dry_run": True},
        {
            "id": "9b1f0c2ab94d5e6f70c1d2e3",
            "kind": "backfill",
            "state": "running",
            "done": 512,
            "total": 5880,
            "created_at": "2026-05-08T13:56:00.000Z",
            "started_at": "2026-05-08T13:56:00.000Z",
            "ended_at": None,
            "detail": None,
            "result": None,
        },
    ),
)
def backfill(
    zone: OpenZone,
    *,
    platform: Annotated[
        str | None, described(description="Only messages of this platform; by default all.")
    ] = None,
    first: Annotated[
        Time | None,
        described(description="Only messages from this time on: a time, or a date (00:00 UTC)."),
    ] = None,
    last: Annotated[
        Time | None,
        described(description="Only messages up to this time: a time, or a date, inclusive."),
    ] = None,
    resume: Annotated[
        bool,
        described(
            description="Continue the last backfill, paused or not, with its platform and period "
            "unless others are given."
        ),
    ] = False,
    dry_run: DryRun = False,
    progress: OnProgress | None = None,
) -> BackfillReport:
    """Let the home's language model extract facts from old messages, episode by episode.

    An episode has 4,000 to 8,000 tokens of consecutive messages. Platforms are read in parallel,
    the episodes of each in chronological order. If a backfill is stopped or killed, the next
    one continues it; after a pause, `resume` does. No answer is paid for twice. `dry_run`: only
    count the episodes and estimate the cost. In a home without a model there is nothing to read,
    because the rules read each message when it was ingested.

    Raises:
        InvalidInput: the platform is unknown, a time is invalid, no model account is configured, or
            the backfill is paused.
        Busy: a backfill of the zone is running.

    >>> found = zone.backfill(dry_run=True)
    >>> found.state, found.model, found.episodes
    ('estimate', None, 1)
    """
    from recollect.operations.writing import backfilling

    return backfilling.backfill(
        zone,
        platform=platform,
        first=first,
        last=last,
        resume=resume,
        dry_run=dry_run,
        progress=progress,
    )


@operation(
    "POST /backfill/pause",
    right="admin",
    title="Pause a backfill",
    tag="writer",
    example=(None, _BACKFILL),
)
def pause_backfill(zone: OpenZone) -> BackfillReport:
    """Pause the zone's backfill until it is resumed, across restarts too.

    A running backfill stops after the messages that it is reading. Answers of an unfinished episode
    are recorded, and cost nothing when the backfill is resumed.

    >>> zone.pause_backfill().state
    'paused'
    >>> zone.backfill(resume=True).state
    'done'
    """
    from recollect.operations.writing import backfilling

    return backfilling.pause(zone)


@operation(
    "GET /backfill",
    right="read",
    title="Progress of a backfill",
    tag="writer",
    needs_zone=True,
    example=(None, _BACKFILL),
)
def backfill_status(zone: OpenZone) -> BackfillReport:
    """Return the progress of the zone's last backfill: its episodes, rate and time left.

    >>> zone.backfill_status().state
    'none'
    """
    from recollect.operations.writing import backfilling

    return backfilling.status(zone)


class BackfillOperations:
    """Backfills of a zone."""

    backfill = backfill
    pause_backfill = pause_backfill
    backfill_status = backfill_status
