"""The status of a zone: its counts, its lag, and whether it makes progress."""

from __future__ import annotations

import apsw

from recollect.home.open_zone import OpenHome, OpenZone, row_counts, unix_ms
from recollect.projections.events.event_queries import event_count
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.listing.episode_list import episode_count
from recollect.projections.memory.memory_queries import dead_letters, model_usage_totals
from recollect.schemas.errors import RecollectError
from recollect.schemas.wire import FileStatus, Status, ZoneModelUsage, ZoneSummary
from recollect.streams.engine.stop_causes import stop_cause
from recollect.streams.ledger import EVENTS

#: A zone with lag is stalled after this long without progress.
STALLED_SECONDS = 60.0


def status(zone: OpenZone) -> Status:
    """Return the zone's counts, lag and progress."""
    node = zone.node
    encoder, name = node.gateway.model, zone.name
    if not zone.exists():
        return Status(
            *(name, "", 0, 0, 0, 0, 0, 0, 0, 0.0, None, False, [], encoder, zone.head()),
            agents=node.agent_names,
        )
    if not zone.open_home.has_follower:
        node.project_turns(name)
    lag_seconds = _lag_seconds(zone)
    idle_seconds = _idle_seconds(zone)
    generation = node.current(name)
    with node.open(name, generation) as files:
        marks = {model.name: model.watermark().number for model in files.all}
        counts = row_counts(files)
        return Status(
            zone=name,
            generation=generation.name,
            events=event_count(files.events.connection),
            facts=counts["facts"],
            entities=counts["entities"],
            episodes=episode_count(files.memory.connection),
            observations=counts["observations"],
            dead_letters=len(dead_letters(files.memory.connection)),
            lag=marks["events"] - marks["memory"],
            lag_seconds=lag_seconds,
            seconds_since_progress=idle_seconds,
            stalled=_is_stalled(zone, lag_seconds),
            problem=node.stop_cause(name),
            models=[FileStatus(model, number) for model, number in marks.items()],
            encoder=generation.encoder,
            head=zone.head(),
            agents=generation.agents,
            model_usage=_model_usage(files),
        )


def zone_summaries(open_home: OpenHome) -> list[ZoneSummary]:
    """Return the zones of the ledger by name, each with its size and whether it is stalled."""
    return [_summary(open_home.zone(name)) for name in sorted(open_home.node.ledger.zones())]


def _summary(zone: OpenZone) -> ZoneSummary:
    """Return the summary of a zone; only a zone that lags is opened.

    A zone whose files cannot be read is stalled. It must not hide the others.
    """
    node, name = zone.node, zone.name
    last = node.ledger.head(name).number
    stalled, problem = False, node.stop_cause(name)
    if node.journal.progress_of(name).number < last:
        try:
            stalled = _is_stalled(zone, _lag_seconds(zone))
        except (RecollectError, apsw.Error, OSError) as error:
            stalled, problem = True, stop_cause(error)
    return ZoneSummary(zone=name, events=last, stalled=stalled, problem=problem)


def _is_stalled(zone: OpenZone, lag_seconds: float | None) -> bool:
    idle_seconds = _idle_seconds(zone)
    if idle_seconds is None and not zone.node.journal.in_memory:
        # Nothing was ever decided.
        idle_seconds = lag_seconds
    return min(lag_seconds or 0, idle_seconds or 0) > STALLED_SECONDS


def _idle_seconds(zone: OpenZone) -> float | None:
    """Return the time since the zone's files last changed; None if unknown."""
    at = zone.node.journal.progress_of(zone.name).at
    return (unix_ms() - at) / 1_000 if at else None


def _model_usage(files: ZoneFiles) -> ZoneModelUsage | None:
    """Return the totals of language model usage; None if there was none."""
    totals = model_usage_totals(files.memory.connection)
    if not totals.events:
        return None
    return ZoneModelUsage(
        events=totals.events,
        calls=totals.calls,
        tokens_in=totals.tokens_in,
        tokens_out=totals.tokens_out,
        cost=totals.cost,
        accepted=totals.accepted,
        duplicates=totals.duplicates,
        rejected=totals.rejected,
    )


def _lag_seconds(zone: OpenZone) -> float | None:
    """Return the age of the first undecided record; 0 if there is none, None if unknown."""
    with zone.files() as files:
        mark = files.memory.watermark()
    ledger = zone.node.ledger
    undecided = ledger.read(EVENTS, zone.partition, mark.event_offset, 1, zone.name)
    if not undecided:
        return 0.0
    at = ledger.appended_at(EVENTS, zone.partition, undecided[0].offset)
    return None if at is None else max(unix_ms() - at, 0) / 1_000
