"""Retraction (G1): taking a memory back without erasing its message, and restoring it."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.memory_listing import get_memory
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall
from recollect.projections.memory import memory_queries as memory
from recollect.projections.memory import retraction_queries as retractions
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Retract, StatedAt
from recollect.schemas.wire import RetractionReport
from recollect.streams.publishing.commands import random_id


def retract(zone: OpenZone, id_: str, *, restore: bool = False) -> RetractionReport:
    """Take back a fact, or all that is concluded from an event; or restore it.

    Retracting what is retracted changes nothing.

    Raises:
        UnknownId: nothing in the zone has this id.
        InvalidInput: it is neither a fact nor an event, or there is nothing to restore.
    """
    found = get_memory(zone, id_)
    if found.type not in ("fact", "event"):
        raise InvalidInput(
            f"{id_!r} is of type {found.type}; only facts and events are retracted: update it, or "
            "forget what it rests on"
        )
    standing = _standing(zone, found.id)
    if restore and not standing:
        raise InvalidInput(f"{id_!r} is not retracted, so there is nothing to restore")
    if restore != standing:
        return _report(zone, found.id, found.type)
    take_back(zone, found.id, found.type, restore=restore)
    return _report(zone, found.id, found.type)


def take_back(
    zone: OpenZone,
    id_: str,
    type_: str,
    *,
    replaced_by: str | None = None,
    restore: bool = False,
) -> None:
    """Put the command into the ledger that retracts, replaces or restores a fact or an event."""
    with zone.files() as files, files.read_transaction():
        stated_at = () if restore else _stated_at(files, id_, type_)
    source = random_id(f"retract:{id_}")
    command(
        zone,
        Retract(
            source_id=source,
            target=id_,
            stated_at=stated_at,
            replaced_by=replaced_by,
            restore=restore,
        ),
    )


def _stated_at(files: ZoneFiles, id_: str, type_: str) -> tuple[StatedAt, ...]:
    """Return the events that state a memory, and where, the first first."""
    # Only a retraction needs the agents.
    from recollect.streams.agents.writer.retracted_statements import stated_span

    if type_ == "event":
        event_ids: Sequence[str] = [id_]
    else:
        event_ids = memory.events_of(files.memory.connection, id_)
        text = facts_for_recall.texts(files.memory.connection, [id_])[id_]
    events = event_list.with_ids(files.events.connection, event_ids).values()
    return tuple(
        StatedAt(
            each.number,
            *(
                (0, len(each.content))
                if type_ == "event"
                else stated_span(each.content, text, (each.sender_id, each.sender_name or ""))
            ),
        )
        for each in sorted(events, key=lambda each: each.number)
    )


def _standing(zone: OpenZone, id_: str) -> bool:
    with zone.files() as files:
        rows = retractions.retractions_of(files.memory.connection, id_)
    return any(row.is_standing for row in rows)


def _report(zone: OpenZone, id_: str, type_: str) -> RetractionReport:
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        rows = retractions.retractions_of(connection, id_)
        facts = retractions.facts_covered(connection, id_)
    standing = any(row.is_standing for row in rows)
    return RetractionReport(
        id=id_,
        type="fact" if type_ == "fact" else "event",
        status="retracted" if standing else "restored",
        facts=[row.fact_id for row in facts],
    )
