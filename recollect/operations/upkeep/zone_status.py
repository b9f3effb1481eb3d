"""The status of a zone: its counts, how far its files are, whether anything moves."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone, row_counts, unix_ms
from recollect.projections.events.event_queries import event_count
from recollect.projections.files import ZoneFiles
from recollect.projections.memory.memory_queries import dead_letters, model_usage_totals
from recollect.schemas.wire import FileStatus, Status, ZoneModelUsage
from recollect.streams.ledger import EVENTS

#: After so long without a step, though there is work, a zone is stalled.
STALLED_SECONDS = 60.0


def status(zone: OpenZone) -> Status:
    """Return the zone's counts and how far it is."""
    node = zone.node
    encoder, name = node.gateway.model, zone.name
    if not zone.exists():
        return Status(
            *(name, "", 0, 0, 0, 0, 0, 0, 0.0, None, False, [], encoder, zone.head()),
            agents=node.agent_names,
        )
    if not zone.open_home.has_follower:
        node.project_turns(name)
    lag_seconds = _lag_seconds(zone)
    moved = node.journal.progress_of(name)
    moved_ago = (unix_ms() - moved.at) / 1_000 if moved.at else None
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
            observations=counts["observations"],
            dead_letters=len(dead_letters(files.memory.connection)),
            lag=marks["events"] - marks["memory"],
            lag_seconds=lag_seconds,
            seconds_since_progress=moved_ago,
            stalled=min(lag_seconds or 0, moved_ago or 0) > STALLED_SECONDS,
            models=[FileStatus(model, number) for model, number in marks.items()],
            encoder=generation.encoder,
            head=zone.head(),
            agents=generation.agents,
            model_usage=_written(files),
        )


def _written(files: ZoneFiles) -> ZoneModelUsage | None:
    """Return what language models wrote; None where none did."""
    found = model_usage_totals(files.memory.connection)
    if not found.events:
        return None
    return ZoneModelUsage(
        events=found.events,
        calls=found.calls,
        tokens_in=found.tokens_in,
        tokens_out=found.tokens_out,
        cost=found.cost,
        accepted=found.accepted,
        duplicates=found.duplicates,
        rejected=found.rejected,
    )


def _lag_seconds(zone: OpenZone) -> float | None:
    """Return how long the first record that is not decided has waited; 0: there is none."""
    with zone.files() as files:
        mark = files.memory.watermark()
    ledger = zone.node.ledger
    waiting = ledger.read(EVENTS, zone.partition, mark.event_offset, 1, zone.name)
    if not waiting:
        return 0.0
    at = ledger.appended_at(EVENTS, zone.partition, waiting[0].offset)
    return None if at is None else max(unix_ms() - at, 0) / 1_000
