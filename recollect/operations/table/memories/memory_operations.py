"""Operations on stored memories: remember, get, list, update, retract, history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from recollect.home.memory_spans import memory_span
from recollect.home.open_zone import OpenZone
from recollect.operations.memories import memory_listing, memory_update, retracting
from recollect.operations.memories.memory_listing import ListScope
from recollect.operations.memories.stored import stored_memories
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import LONG_TEXT, Tool, operation
from recollect.operations.table.parameters import (
    PAGE,
    Content,
    Cursor,
    Entity,
    Id,
    Limit,
    NewText,
    Platform,
    SourceEventIds,
    Superseded,
    ThreadId,
    TimeAfter,
    described,
)
from recollect.schemas.wire import (
    Memory,
    MemoryInput,
    MemoryPage,
    MemoryVersion,
    RememberReceipt,
    RetractionReport,
    UpdateReport,
)

_AT, _LATER = "2026-05-08T13:56:00.000Z", "2026-05-09T08:00:00.000Z"
_FACT_ID, _MODEL_ID = "01KR3XZBC0BAQNHSCT9EJ4NDPT", "01KR3XZBC0MTPV7D6B8F2Q9JXE"
_MEMORY = {
    "id": _FACT_ID,
    "type": "fact",
    "text": "Ada lives in Turin.",
    "as_of": _AT,
    "platform": "chat",
    "sender_name": "Ada",
    "entities": ["Ada", "Turin"],
    "source_event_ids": ["m1"],
}
#: An answer with two versions, as an example.
VERSIONS = {
    "versions": [
        {"id": _MODEL_ID, "text": "Ada lives in Turin.", "at": _AT, "current": False},
        {"id": _FACT_ID, "text": "Ada lives in Oslo.", "at": _LATER, "current": True},
    ]
}


def _without_metadata(memory: Memory) -> Memory:
    """Remove the metadata, which is meant for programs and may be of any size."""
    return msgspec.structs.replace(memory, metadata=None)


def _page_without_metadata(zone: Any, given: Any, page: MemoryPage) -> MemoryPage:
    return MemoryPage(memories=[_without_metadata(memory) for memory in page], cursor=page.cursor)


@operation(
    "POST /memories",
    right="write",
    status=201,
    title="Remember",
    tag="memories",
    creates_zone=True,
    stamp="at",
    tool=Tool(
        name="retain",
        title="Remember something",
        description="Remember a text: a fact, a preference, a decision, an event. Write one "
        "complete sentence that says who and what, so that it can be understood without this "
        "conversation. It can be recalled at once. If decided is false, it is stored and its facts "
        "follow later: do not send it again. Do not store what memory returned.",
    ),
    example=(
        {"content": "The deploy key is in the blue safe."},
        {
            "status": "new",
            "number": 2,
            "event_id": _FACT_ID,
            "clamped": False,
            "token": "0:2:2",
            "decided": True,
        },
    ),
)
def remember(
    zone: OpenZone,
    content: Content,
    *,
    sender_id: Annotated[
        str,
        described(
            minLength=1,
            maxLength=1_024,
            description="Who says it: user, assistant for the agent's own words, or another id. At "
            "most 1,024 bytes of UTF-8.",
        ),
    ] = "user",
    at: Annotated[
        TimeAfter,
        described(
            description="When it was said: ISO 8601 with a zone, or unix milliseconds; defaults to "
            "now.",
        ),
    ] = None,
    principal: Mapping[str, str] | None = None,
) -> RememberReceipt:
    """Store a text verbatim, as said by `sender_id`, now or at a given time.

    `principal`: the user or agent on whose behalf the call is made; stored in the event's metadata.
    A service may answer before the text is processed, if that takes longer than its request
    timeout; `decided` is then false, and `wait_for` waits for the `token`.

    >>> zone.remember("The deploy key is in the blue safe.").status
    'new'
    """
    with memory_span("create_memory", zone.name) as span:
        (receipt,) = stored_memories.store(
            zone, [MemoryInput(content=content, sender_id=sender_id, at=at)], principal
        )
        span.set_record_id(receipt.event_id)
        span.set_records(1, lambda: [(receipt.event_id, content, None)])
    return receipt


@operation(
    "GET /memories/{id}",
    right="read",
    title="Get a memory",
    tag="memories",
    tool=Tool(
        title="Get a memory",
        description="Get one memory with its whole text, by id: a message (event), a fact, an "
        f"observation or a mental model. {DATA_WARNING}",
        max_text_length=LONG_TEXT,
        shape=lambda zone, given, memory: _without_metadata(memory),
    ),
    example=(None, _MEMORY),
)
def get_memory(zone: OpenZone, id: Id) -> Memory:
    """Return an event, a fact, an observation or a mental model by its id.

    An event can be given by its own id or by its source's id.

    Raises:
        UnknownId: nothing in the zone has this id.
        InvalidInput: it is the id of an entity.

    >>> zone.get_memory("m1").text
    'I live in Turin.'
    """
    return memory_listing.get_memory(zone, id)


@operation(
    "GET /memories",
    right="read",
    title="List memories",
    tag="memories",
    tool=Tool(
        title="List memories",
        description="List memories of one kind, newest first, a page at a time. To search, use "
        f"recall. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"limit": 20},
        hidden=frozenset({"thread_id", "source_event_ids", "metadata"}),
        shape=_page_without_metadata,
    ),
    example=(None, {"memories": [_MEMORY], "cursor": f"facts:1778248560000:{_FACT_ID}"}),
)
def list_memories(
    zone: OpenZone,
    scope: Annotated[
        ListScope, described(description="The kind of memory to list; events are messages.")
    ] = "facts",
    *,
    entity: Entity = None,
    platform: Platform = None,
    thread_id: ThreadId = None,
    source_event_ids: SourceEventIds = None,
    metadata: Annotated[
        Mapping[str, str] | None,
        described(
            description="Only events whose metadata has these values: a map from a key or a "
            "dotted path to a text. In a URL, a JSON object."
        ),
    ] = None,
    superseded: Superseded = False,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> MemoryPage:
    """Return a page of memories of one kind, newest first.

    `entity` selects memories about, or written by, a person or thing; `platform`, `thread_id` and
    `metadata` apply to events. A page's `cursor` selects the next page, even if memories were added
    or forgotten in between.

    Raises:
        InvalidInput: a value is out of range, or a filter does not apply to this kind.

    >>> page = zone.list_memories("events", limit=1)
    >>> [memory.text for memory in page]
    ['I moved to Oslo.']
    >>> zone.list_memories("events", cursor=page.cursor)[0].text
    'I live in Turin.'
    """
    return memory_listing.list_memories(
        zone,
        scope,
        entity=entity,
        platform=platform,
        thread_id=thread_id,
        source_event_ids=source_event_ids,
        metadata=metadata,
        superseded=superseded,
        cursor=cursor,
        limit=limit,
    )


@operation(
    "PATCH /memories/{id}",
    right="write",
    title="Update a memory",
    tag="memories",
    tool=Tool(
        title="Correct a memory",
        description="Replace a fact, a text stored with retain, or a mental model with a new text. "
        "The old one is kept as superseded. A message that somebody wrote is never rewritten: "
        "update the fact taken from it, or retain the correction.",
    ),
    example=(
        {"text": "The deploy key is in the red safe."},
        {
            "id": _FACT_ID,
            "type": "event",
            "text": "The deploy key is in the red safe.",
            "previous_id": _MODEL_ID,
        },
    ),
)
def update_memory(
    zone: OpenZone,
    id: Id,
    text: NewText,
    *,
    principal: Mapping[str, str] | None = None,
) -> UpdateReport:
    """Replace a memory's text; the old one stays in its history.

    A mental model gets a new version. A fact, a text stored by `remember`, or a part of an event
    (`ID:START-END`, in characters) is superseded by the new text, stored as said by the same
    sender. Other messages are never rewritten. `principal`: the user or agent on whose behalf the
    call is made; stored in the event's metadata.

    Raises:
        InvalidInput: the id is unknown, it cannot be updated, or the text cannot be stored.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> updated = zone.update_memory(made.event_id, "The deploy key is in the red safe.")
    >>> zone.get_memory(updated.id).text
    'The deploy key is in the red safe.'
    """
    with memory_span("update_memory", zone.name) as span:
        span.set_record_id(id)
        report = memory_update.update_memory(zone, id, text, principal=principal)
        span.set_records(1, lambda: [(report.id, report.text, None)])
    return report


@operation(
    "POST /memories/{id}/retract",
    right="write",
    title="Retract a memory",
    tag="memories",
    tool=Tool(
        title="Retract a memory",
        description="Retract a fact that is wrong, or all facts of a message, without erasing the "
        "message; they are not extracted from that message again. With restore=true, undo a "
        "retraction. To erase the text for good, use forget.",
        idempotent=True,
        hidden=frozenset({"replaced_by", "source_event_ids"}),
    ),
    example=(
        {"restore": False},
        {"id": _FACT_ID, "type": "fact", "status": "retracted", "facts": [_FACT_ID]},
    ),
)
def retract(
    zone: OpenZone,
    id: Id,
    *,
    restore: Annotated[bool, described(description="Undo an earlier retraction.")] = False,
    replaced_by: Annotated[
        str | None,
        described(description="Id of the event that states what is true instead, if one does."),
    ] = None,
    source_event_ids: SourceEventIds = None,
) -> RetractionReport:
    """Retract a fact, all facts of an event, or a part of its text; `restore` undoes that.

    A part is `ID:START-END`, in characters of the event's text. The event stays, with its other
    facts. A retracted fact is not extracted from the same event again. Facts that it had superseded
    become current again. A new message that states the fact creates it again. `replaced_by` is the
    event that states what is true instead: the memory then counts as true until that event, and the
    facts it superseded stay superseded. `source_event_ids`: retract only the statements of these
    events; other events that state the fact are shown and recalled as before. To erase permanently,
    use `forget`.

    Raises:
        UnknownId: nothing in the zone has this id.
        InvalidInput: it is neither a fact nor an event, or there is nothing to restore.

    >>> fact = zone.facts(entity="Ada")[0]
    >>> zone.retract(fact.id).status
    'retracted'
    >>> fact.id in [each.id for each in zone.facts()]
    False
    >>> zone.retract(fact.id, restore=True).status
    'restored'
    """
    return retracting.retract(
        zone, id, restore=restore, replaced_by=replaced_by, source_event_ids=source_event_ids
    )


@operation(
    "GET /memories/{id}/history",
    right="read",
    title="History of a memory",
    tag="memories",
    response_field="versions",
    example=(None, VERSIONS),
)
def history(zone: OpenZone, id: Id) -> list[MemoryVersion]:
    """Return the versions of a memory, oldest first.

    Raises:
        UnknownId: nothing in the zone has this id.

    >>> made = zone.create_mental_model("Homes", "Ada lives in Turin.")
    >>> later = zone.update_mental_model(made.id, "Ada lives in Oslo.")
    >>> [(version.text, version.current) for version in zone.history(made.id)]
    [('Ada lives in Turin.', False), ('Ada lives in Oslo.', True)]
    """
    return memory_listing.history(zone, id)


class MemoryOperations:
    """Memories of a zone."""

    remember = remember
    get_memory = get_memory
    list_memories = list_memories
    update_memory = update_memory
    retract = retract
    history = history
