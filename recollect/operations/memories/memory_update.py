"""Updating a memory: a new one takes its place, since what was written is never rewritten."""

from __future__ import annotations

from collections.abc import Mapping

from recollect.home.open_zone import OpenZone
from recollect.operations.erasure import forgetting
from recollect.operations.ingestion.ingesting import remember
from recollect.operations.memories import mental_models
from recollect.operations.memories.memory_listing import get_memory
from recollect.projections.events import event_list
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import RESERVED_PLATFORM
from recollect.schemas.wire import ForgetTargets, UpdateReport


def update_memory(
    zone: OpenZone, id_: str, text: str, *, principal: Mapping[str, str] | None = None
) -> UpdateReport:
    """Put a text in the place of a memory.

    A mental model gets a new version, and the ones before stay. A text that was remembered (its own
    id, or that of the one fact in it) is remembered anew, and the one before is erased. A message
    that somebody wrote is not rewritten.

    Raises:
        InvalidInput: nothing has the id, it cannot be updated, or the text cannot be kept.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidInput("text is empty; give what the memory is to say, or forget it")
    found = get_memory(zone, id_)
    if found.type == "mental_model":
        if found.text == text:
            raise InvalidInput(f"mental model {found.id} says that already")
        version = mental_models.update(zone, found.id, text)
        return UpdateReport(
            id=version.id, type="mental_model", text=text, previous_id=found.id, erased_records=0
        )
    with zone.files() as files, files.read_transaction():
        before = _remembered(files, found.id, found.type)
    if before.content == text:
        raise InvalidInput(f"{before.id} says that already")
    # In this order, so that a death in between loses nothing.
    receipt = remember(zone, text, sender_id=before.sender_id, principal=principal)
    erased = forgetting.forget(zone, ForgetTargets(ids=(before.id,)))
    return UpdateReport(
        id=receipt.event_id,
        type="event",
        text=text,
        previous_id=before.id,
        erased_records=erased.events,
    )


def _remembered(files: ZoneFiles, id_: str, type_: str) -> event_list.ListedEvent:
    """Return the remembered text that is, or alone says, a memory."""
    connection = files.memory.connection
    ids = [id_] if type_ == "event" else memory.events_of(connection, id_)
    found = list(event_list.with_ids(files.events.connection, ids).values())
    written = [item for item in found if (item.platform, item.kind) != _REMEMBERED]
    if written or not found:
        where = f": {written[0].source_id!r} of {written[0].platform}" if written else ""
        raise InvalidInput(
            f"{id_!r} comes from what somebody wrote{where}, which is not rewritten; remember the "
            "correction as a text of its own, or forget what is wrong"
        )
    if len(found) > 1:
        raise InvalidInput(
            f"{id_!r} comes from {len(found)} texts; update one of them: "
            f"{', '.join(item.id for item in found)}"
        )
    (text,) = found
    if type_ == "observation" or (
        type_ == "fact" and len(memory.facts_from(connection, text.id)) > 1
    ):
        raise InvalidInput(
            f"{id_!r} is a part of what the text {text.id!r} says; update that, with all that it "
            "is to say"
        )
    return text


_REMEMBERED = (RESERVED_PLATFORM, "remember")
