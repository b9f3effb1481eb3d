"""Retraction: retracting a memory without erasing its message, and restoring it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.memory_listing import get_memory, part_id
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries as memory
from recollect.projections.memory import retraction_queries as retractions
from recollect.projections.memory.listing import stored_memory_list
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import Retract, StatedAt
from recollect.schemas.memory_terms import writer_of
from recollect.schemas.wire import Memory, RetractionReport
from recollect.streams.publishing.commands import random_id

_PART = re.compile(r"(.+):(\d{1,9})-(\d{1,9})", re.DOTALL)


class Part(NamedTuple):
    """A part of an event's text, from `start` to `end` in characters."""

    event: Memory
    start: int
    end: int

    @property
    def type(self) -> str:
        """The type of the part's event."""
        return self.event.type

    @property
    def id(self) -> str:
        """The id by which the part is retracted, updated and restored."""
        return part_id(self.event.id, self.start, self.end)

    @property
    def text(self) -> str:
        """The text of the part."""
        return self.event.text[self.start : self.end]


def find_memory(zone: OpenZone, id_: str) -> Memory | Part:
    """Return a memory by its id, or the part of an event that `ID:START-END` names.

    Raises:
        UnknownId: nothing in the zone has this id.
        InvalidInput: it is the id of an entity, or the event's text has no such part.
    """
    try:
        return get_memory(zone, id_)
    except UnknownId:
        match = _PART.fullmatch(id_)
        if match is None:
            raise
    event = get_memory(zone, match[1])
    start, end = int(match[2]), int(match[3])
    if event.type != "event" or not start < end <= len(event.text):
        raise InvalidInput(
            f"{id_[:200]!r} is not a part of an event's text; give ID:START-END with the id of an "
            "event and offsets in its text"
        )
    return Part(event, start, end)


def check_may_change(zone: OpenZone, found: Memory | Part) -> None:
    """Raise UnknownId if a memory is from a stored memory that the caller may not change."""
    reader = zone.reader
    if reader is None:
        return
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        ids = [found.event.id if isinstance(found, Part) else found.id]
        ids += memory.events_of(connection, found.id)
        owners = stored_memory_list.owners(connection, ids)
    if not all(writer_of(*owner).includes(*reader) for owner in owners):
        raise UnknownId(f"zone {zone.name} holds nothing with the id {found.id!r}")


def retract(
    zone: OpenZone,
    id_: str,
    *,
    restore: bool = False,
    replaced_by: str | None = None,
    source_event_ids: Sequence[str] | None = None,
) -> RetractionReport:
    """Retract a fact, every fact of an event, or a part of its text; or restore it.

    Retracting a retracted memory changes nothing. `replaced_by`: the event that states the
    correction. `source_event_ids`: retract the statements of these events only; None: of all.

    Raises:
        UnknownId: nothing in the zone has this id.
        InvalidInput: it is neither a fact nor an event, there is nothing to restore, or
            `replaced_by` is not an event.
    """
    memory = find_memory(zone, id_)
    if memory.type not in ("fact", "event"):
        raise InvalidInput(
            f"{id_!r} is of type {memory.type}; only facts and events can be retracted: update it, "
            "or forget what it rests on"
        )
    check_may_change(zone, memory)
    event_id = None if replaced_by is None else _replacing_event(zone, replaced_by, restore)
    target = _retraction_id(zone, memory.id) if restore else memory.id
    is_retracted = _is_retracted(zone, target)
    if restore and not is_retracted:
        raise InvalidInput(f"{id_!r} is not retracted, so there is nothing to restore")
    if restore:
        _append(zone, target, restore=True)
    elif not is_retracted:
        append_retraction(zone, memory, replaced_by=event_id, source_event_ids=source_event_ids)
    return _report(zone, target, memory.type)


def _replacing_event(zone: OpenZone, id_: str, restore: bool) -> str:
    event = get_memory(zone, id_)
    if event.type != "event" or restore:
        raise InvalidInput(
            "replaced_by must be the id of an event, and cannot be combined with `restore`"
        )
    return event.id


def append_retraction(
    zone: OpenZone,
    found: Memory | Part,
    *,
    replaced_by: str | None = None,
    source_event_ids: Sequence[str] | None = None,
) -> None:
    """Append the command that retracts or replaces a memory."""
    with zone.files() as files, files.read_transaction():
        stated_at = _statements_of(files, found, replaced_by, source_event_ids)
    if not stated_at:
        raise InvalidInput(f"source_event_ids: none of these events is a source of {found.id!r}")
    _append(zone, found.id, stated_at=stated_at, replaced_by=replaced_by)


def _append(
    zone: OpenZone,
    target: str,
    *,
    stated_at: tuple[StatedAt, ...] = (),
    replaced_by: str | None = None,
    restore: bool = False,
) -> None:
    command(
        zone,
        Retract(
            source_id=random_id(f"retract:{target}"),
            target=target,
            stated_at=stated_at,
            replaced_by=replaced_by,
            restore=restore,
        ),
    )


def _statements_of(
    files: ZoneFiles,
    target: Memory | Part,
    except_event: str | None,
    only_sources: Sequence[str] | None,
) -> tuple[StatedAt, ...]:
    """Return where events state a memory, in the order of the ledger.

    `except_event`: an event to leave out. `only_sources`: only events with these source ids.
    """
    # Imported here: only a retraction needs the agents.
    from recollect.streams.agents.writer.retracted_statements import stated_span

    if isinstance(target, Part):
        event_ids: Sequence[str] = [target.event.id]
    elif target.type == "event":
        event_ids = [target.id]
    else:
        event_ids = memory.events_of(files.memory.connection, target.id)
    events = event_list.with_ids(files.events.connection, event_ids).values()
    return tuple(
        StatedAt(
            event.number,
            *(
                (target.start, target.end)
                if isinstance(target, Part)
                else (0, len(event.content))
                if target.type == "event"
                else stated_span(
                    event.content, target.text, (event.sender_id, event.sender_name or "")
                )
            ),
        )
        for event in sorted(events, key=lambda event: event.number)
        if event.id != except_event and (only_sources is None or event.source_id in only_sources)
    )


def _is_retracted(zone: OpenZone, id_: str) -> bool:
    with zone.files() as files:
        rows = retractions.retractions_of(files.memory.connection, id_)
    return any(row.is_standing for row in rows)


def _retraction_id(zone: OpenZone, id_: str) -> str:
    """Return the id under which a memory was retracted.

    It differs from the current id if the fact's first event was forgotten since, and the fact was
    derived again from the next event that states it.
    """
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        for row in retractions.retractions_of_fact(connection, id_):
            is_gone = row.target_id not in {id_, *memory.events_of_facts(connection, [id_])}
            if row.is_standing and is_gone and memory.fact(connection, row.target_id) is None:
                return row.target_id
    return id_


def _report(zone: OpenZone, id_: str, type_: str) -> RetractionReport:
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        rows = retractions.retractions_of(connection, id_)
        facts = retractions.facts_covered(connection, id_)
    is_retracted = any(row.is_standing for row in rows)
    return RetractionReport(
        id=id_,
        type="fact" if type_ == "fact" else "event",
        status="retracted" if is_retracted else "restored",
        facts=[row.fact_id for row in facts if row.fact_id != id_ or type_ == "fact"],
    )
