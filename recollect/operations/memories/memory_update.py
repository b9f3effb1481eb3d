"""Updating a memory: a new text supersedes it, since stored events never change."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import remember
from recollect.operations.memories.derived import mental_models
from recollect.operations.memories.retracting import (
    Part,
    append_retraction,
    check_may_change,
    find_memory,
)
from recollect.operations.memories.stored import stored_memories
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import RESERVED_PLATFORM
from recollect.schemas.wire import Memory, UpdateReport

_REMEMBERED = (RESERVED_PLATFORM, "remember")


def update_memory(
    zone: OpenZone,
    id_: str,
    text: str,
    *,
    principal: Mapping[str, str] | None = None,
) -> UpdateReport:
    """Replace the text of a memory; the old one stays in its history.

    A mental model gets a new version. A fact, a remembered text or a part of an event is superseded
    by the new text, which is stored as written by the same sender. Other messages cannot be
    updated.

    Raises:
        InvalidInput: the id is unknown, the memory cannot be updated, or the text was rejected.
    """
    if not text.strip():
        raise InvalidInput("text is empty; give the new text, or forget the memory")
    memory = find_memory(zone, id_)
    check_may_change(zone, memory)
    if memory.text == text:
        raise InvalidInput(f"{memory.id} already has this text")
    if memory.type == "mental_model":
        version = mental_models.update(zone, memory.id, text)
        return UpdateReport(id=version.id, type="mental_model", text=text, previous_id=memory.id)
    with zone.files() as files, files.read_transaction():
        sender_id = _sender(files, memory)
    if memory.type == "event" and not isinstance(memory, Part):
        for old in stored_memories.current_versions(zone, memory.id):
            receipt = stored_memories.new_version(zone, old, text, principal)
            return UpdateReport(
                id=receipt.event_id, type="event", text=text, previous_id=old.memory_id
            )
    # Remembered before the old text is retracted, so that a crash in between loses nothing.
    receipt = remember(
        zone,
        text,
        sender_id=sender_id,
        principal=principal,
        replaces=memory.id,
    )
    append_retraction(zone, memory, replaced_by=receipt.event_id)
    return UpdateReport(id=receipt.event_id, type="event", text=text, previous_id=memory.id)


def _sender(files: ZoneFiles, target: Memory | Part) -> str:
    """Return the sender of the memory to be updated.

    Raises:
        InvalidInput: it cannot be updated.
    """
    if isinstance(target, Part):
        return str(target.event.sender_id)
    if target.type == "observation":
        raise InvalidInput(
            f"{target.id!r} is an observation, which rests on facts; update or retract those"
        )
    connection = files.memory.connection
    ids = [target.id] if target.type == "event" else memory.events_of(connection, target.id)
    event = next(iter(event_list.with_ids(files.events.connection, ids).values()))
    if target.type == "event" and (event.platform, event.kind) != _REMEMBERED:
        raise InvalidInput(
            f"{target.id!r} is a message, {event.source_id!r} of {event.platform}, and messages "
            "cannot be changed; update a fact extracted from it, or remember the correction"
        )
    return event.sender_id
