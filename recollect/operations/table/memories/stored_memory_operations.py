"""Operations on stored memories: texts with a type, an owner, a state and versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from recollect.home.memory_spans import memory_span
from recollect.home.open_zone import OpenZone
from recollect.operations.memories.stored import stored_memories
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import LONG_TEXT, Tool, operation
from recollect.operations.table.parameters import Cursor, Id, Limit, described
from recollect.schemas.events import MemoryScope, MemoryState
from recollect.schemas.memory_terms import MemoryTier, StoredMemoryType
from recollect.schemas.wire import (
    MemoryDiff,
    MemoryInput,
    MemoryReceipts,
    MemoryStateReport,
    RememberReceipt,
    StoredMemory,
    StoredMemoryPage,
    StoredMemoryVersionPage,
    Time,
)
from recollect.schemas.wire.entries.stored_memory_entries import Stability

_AT = "2026-05-08T13:56:00.000Z"
_ID, _NEXT = "01KR3XZBC0BAQNHSCT9EJ4NDPT", "01KR3XZBC0MTPV7D6B8F2Q9JXE"
_RECEIPT = {
    "status": "new",
    "number": 2,
    "event_id": _ID,
    "clamped": False,
    "token": "0:2:2",
    "decided": True,
}
STORED_MEMORY = {
    "memory_id": _ID,
    "first_id": _ID,
    "version": 1,
    "content": "Ada prefers tea.",
    "content_hash": "3f0c…",
    "memory_type": "preference",
    "scope": "user",
    "visibility": "private",
    "state": "active",
    "user_id": "ada",
    "namespace": "/people/ada",
    "path_key": "drink",
    "importance": 0.8,
    "effective_importance": 0.8,
    "created_at": _AT,
    "updated_at": _AT,
    "valid_at": _AT,
}
_REPORT = {"state": "inactive", "changed": [_ID], "unchanged": [], "unknown": []}
_DIFF = {
    "from_id": _ID,
    "to_id": _NEXT,
    "diff": f"--- {_ID}\n+++ {_NEXT}\n@@ -1 +1 @@\n-Ada prefers tea.\n+Ada prefers coffee.",
}

StoredId = Annotated[
    str,
    described(
        minLength=1,
        maxLength=2_000,
        description="Id of a stored memory, or of one of its versions.",
    ),
]
StoredIds = Annotated[
    Sequence[str],
    described(
        minItems=1,
        maxItems=stored_memories.MAX_BATCH,
        description="Ids of stored memories.",
    ),
]
_Moment = Annotated[
    Time | None, described(description="A time: ISO 8601 with a zone, or unix milliseconds.")
]


@operation(
    "POST /stored-memories",
    right="write",
    status=201,
    title="Store memories",
    tag="memories",
    creates_zone=True,
    tool=Tool(
        title="Store memories",
        description="Store texts with a type, a scope, a visibility, a namespace, an importance. "
        "A text with the namespace and path_key of an earlier one becomes its new version. To "
        "store a plain text, use retain.",
    ),
    example=(
        {
            "memories": [
                {
                    "content": "Ada prefers tea.",
                    "memory_type": "preference",
                    "scope": "user",
                    "user_id": "ada",
                    "namespace": "/people/ada",
                    "path_key": "drink",
                    "importance": 0.8,
                }
            ]
        },
        {"receipts": [_RECEIPT]},
    ),
)
def store_memories(
    zone: OpenZone,
    memories: Annotated[
        Sequence[MemoryInput],
        described(
            minItems=1,
            maxItems=stored_memories.MAX_BATCH,
            description="The texts, each with its attributes.",
        ),
    ],
    *,
    principal: Mapping[str, str] | None = None,
) -> MemoryReceipts:
    """Store texts with their attributes, all or none: none is stored if one is invalid.

    A text with the same owner, `namespace` and `path_key` as an earlier one is its next version.
    `principal`: the user or agent on whose behalf the call is made; stored in the events' metadata.

    Raises:
        InvalidInput: a value is invalid; the message names it.
        UnknownId: an id in `derived_from` is unknown.

    >>> from recollect import MemoryInput
    >>> tea, = zone.store_memories([MemoryInput(
    ...     content="Ada prefers tea.", namespace="/people/ada", path_key="drink")])
    >>> coffee, = zone.store_memories([MemoryInput(
    ...     content="Ada prefers coffee.", namespace="/people/ada", path_key="drink")])
    >>> zone.stored_memory(coffee.event_id).supersedes_id == tea.event_id
    True
    """
    with memory_span("create_memory", zone.name) as span:
        receipts = stored_memories.store(zone, memories, principal)
        span.set_records(
            len(receipts),
            lambda: [
                (receipt.event_id, memory.content, None)
                for receipt, memory in zip(receipts, memories, strict=True)
            ],
        )
    return MemoryReceipts(receipts=receipts)


@operation(
    "GET /stored-memories",
    right="read",
    title="Query stored memories",
    tag="memories",
    tool=Tool(
        title="Query stored memories",
        description="List stored memories by attributes such as type, namespace, person or date, "
        f"newest first, a page at a time. To search by meaning, use recall. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"limit": 20},
        hidden=frozenset({"abstraction_level"}),
    ),
    example=(None, {"memories": [STORED_MEMORY], "cursor": "1778248560000:17"}),
)
def query_memories(
    zone: OpenZone,
    *,
    scope: Annotated[
        MemoryScope | None, described(description="Only memories of this scope.")
    ] = None,
    memory_type: Annotated[
        StoredMemoryType | None, described(description="Only memories of this type.")
    ] = None,
    state: Annotated[
        Literal["active", "inactive", "deleted", "any"],
        described(description="Only memories in this state."),
    ] = "active",
    tier: Annotated[
        MemoryTier | None,
        described(description="Only memories in this tier: main, recall or archival."),
    ] = None,
    namespace: Annotated[
        str | None, described(description="Only memories in exactly this namespace.")
    ] = None,
    namespace_prefix: Annotated[
        str | None, described(description="Only memories whose namespace begins with this text.")
    ] = None,
    user_id: Annotated[str | None, described(description="Only memories of this user.")] = None,
    agent_id: Annotated[str | None, described(description="Only memories of this agent.")] = None,
    time_after: Annotated[
        _Moment, described(description="Only memories stored after this time.")
    ] = None,
    time_before: Annotated[
        _Moment, described(description="Only memories stored before this time.")
    ] = None,
    during: Annotated[
        str | None,
        described(
            description="Only memories stored in this year, month or day (UTC): 2025, 2025-01."
        ),
    ] = None,
    entity_type: Annotated[
        str | None,
        described(description="Only memories that name an entity of this type, such as PERSON."),
    ] = None,
    person: Annotated[
        str | None, described(description="Only memories that name this person.")
    ] = None,
    first: Annotated[
        _Moment, described(description="Only memories whose earliest date is this day or later.")
    ] = None,
    last: Annotated[
        _Moment, described(description="Only memories whose latest date is this day or earlier.")
    ] = None,
    valid_at: Annotated[
        _Moment, described(description="Only memories that were true at this time.")
    ] = None,
    known_at: Annotated[
        _Moment, described(description="Only versions stored and not yet replaced at this time.")
    ] = None,
    temporal_stability: Annotated[
        Stability | None, described(description="Only memories of this temporal stability.")
    ] = None,
    abstraction_level: Annotated[
        int | None,
        described(
            minimum=0,
            maximum=stored_memories.MAX_LEVEL,
            description="Only memories of this level of abstraction.",
        ),
    ] = None,
    superseded: Annotated[
        bool, described(description="Include replaced versions, and memories no longer true.")
    ] = False,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> StoredMemoryPage:
    """Return a page of stored memories, newest first.

    All filters must match. Replaced versions and memories that are no longer true are left out,
    unless they are requested or a point in time is given. A page's `cursor` selects the next page.

    Raises:
        InvalidInput: a value is invalid; the message names it.

    >>> from recollect import MemoryInput
    >>> _ = zone.store_memories([MemoryInput(
    ...     content="Ada prefers tea.", memory_type="preference", namespace="/people/ada")])
    >>> [memory.content for memory in zone.query_memories(namespace_prefix="/people/")]
    ['Ada prefers tea.']
    """
    return stored_memories.query(
        zone,
        scope=scope,
        memory_type=memory_type,
        state=state,
        tier=tier,
        namespace=namespace,
        namespace_prefix=namespace_prefix,
        user_id=user_id,
        agent_id=agent_id,
        time_after=time_after,
        time_before=time_before,
        during=during,
        entity_type=entity_type,
        person=person,
        first=first,
        last=last,
        valid_at=valid_at,
        known_at=known_at,
        temporal_stability=temporal_stability,
        abstraction_level=abstraction_level,
        superseded=superseded,
        cursor=cursor,
        limit=limit,
    )


@operation(
    "GET /stored-memories/{id}",
    right="read",
    title="Get a stored memory",
    tag="memories",
    tool=Tool(
        verb="get",
        title="Get a stored memory",
        description="Get one stored memory with its attributes, entities and dates, by "
        f"id. {DATA_WARNING}",
        max_text_length=LONG_TEXT,
        quotes_memories=True,
    ),
    example=(None, STORED_MEMORY),
)
def stored_memory(
    zone: OpenZone,
    id: StoredId,
    *,
    current: Annotated[
        bool, described(description="Return the newest version instead of the one named.")
    ] = False,
) -> StoredMemory:
    """Return a version of a stored memory; with `current`, the newest one.

    Raises:
        UnknownId: no stored memory has this id.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> zone.stored_memory(made.event_id).state
    'active'
    """
    return stored_memories.stored_memory(zone, id, current=current)


@operation(
    "GET /stored-memories/{id}/versions",
    right="read",
    title="Versions of a stored memory",
    tag="memories",
    example=(None, {"versions": [STORED_MEMORY], "cursor": None}),
)
def memory_versions(
    zone: OpenZone, id: StoredId, *, cursor: Cursor = None, limit: Limit = 100
) -> StoredMemoryVersionPage:
    """Return a page of the versions of a stored memory, oldest first.

    Raises:
        UnknownId: no stored memory has this id.
        InvalidInput: a value is invalid; the message names it.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> updated = zone.update_memory(made.event_id, "The deploy key is in the red safe.")
    >>> [version.version for version in zone.memory_versions(updated.id)]
    [1, 2]
    """
    return stored_memories.versions_of(zone, id, cursor=cursor, limit=limit)


@operation(
    "POST /stored-memories/{id}/rollback",
    right="write",
    title="Roll back a stored memory",
    tag="memories",
    example=({"version": 1}, _RECEIPT),
)
def roll_back_memory(
    zone: OpenZone,
    id: StoredId,
    version: Annotated[int, described(minimum=1, description="Number of the earlier version.")],
    *,
    principal: Mapping[str, str] | None = None,
) -> RememberReceipt:
    """Store a new version of a memory with the text of an earlier one.

    Raises:
        UnknownId: no stored memory has this id.
        InvalidInput: it has no such version, or already has this text.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> updated = zone.update_memory(made.event_id, "The deploy key is in the red safe.")
    >>> back = zone.roll_back_memory(updated.id, 1)
    >>> zone.stored_memory(back.event_id).content
    'The deploy key is in the blue safe.'
    """
    return stored_memories.roll_back(zone, id, version, principal)


@operation(
    "POST /stored-memories/state",
    right="write",
    title="Approve, deactivate or delete",
    tag="memories",
    tool=Tool(
        title="Approve, deactivate or delete stored memories",
        description="Set the state of memories. Inactive and deleted memories are not recalled. "
        "An inactive memory can be approved again, a deleted one cannot. To erase the text "
        "permanently, use forget.",
        idempotent=True,
    ),
    example=({"ids": [_ID], "state": "inactive"}, _REPORT),
)
def set_memory_state(
    zone: OpenZone,
    ids: StoredIds,
    state: Annotated[
        MemoryState,
        described(description="active (approve), inactive (deactivate) or deleted."),
    ],
) -> MemoryStateReport:
    """Approve, deactivate or delete memories, in one command.

    All versions of a memory have the same state. The contents of inactive and deleted memories are
    neither recalled nor listed. Deletion is final, but the text stays in the ledger until it is
    forgotten.

    Raises:
        InvalidInput: there are no ids, or too many.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> zone.set_memory_state([made.event_id], "inactive").changed == [made.event_id]
    True
    >>> zone.recall("Where is the deploy key?", min_score=0.5).results
    []
    """
    return stored_memories.set_state(zone, ids, state)


@operation(
    "GET /memories/{id}/diff/{other}",
    right="read",
    title="Difference of two memories",
    tag="memories",
    example=(None, _DIFF),
)
def diff_memories(
    zone: OpenZone,
    id: Id,
    other: Annotated[
        str, described(minLength=1, maxLength=2_000, description="Id of the other memory.")
    ],
) -> MemoryDiff:
    """Return a unified diff of the texts of two memories, such as two versions.

    Raises:
        UnknownId: nothing in the zone has one of the ids.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> updated = zone.update_memory(made.event_id, "The deploy key is in the red safe.")
    >>> print(zone.diff_memories(made.event_id, updated.id).diff.split("\\n")[-1])
    +The deploy key is in the red safe.
    """
    return stored_memories.diff(zone, id, other)


class StoredMemoryOperations:
    """Stored memories of a zone."""

    store_memories = store_memories
    query_memories = query_memories
    stored_memory = stored_memory
    memory_versions = memory_versions
    roll_back_memory = roll_back_memory
    set_memory_state = set_memory_state
    diff_memories = diff_memories
