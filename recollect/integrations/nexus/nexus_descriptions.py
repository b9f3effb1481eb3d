"""Descriptions of Nexus' routes for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect import Inference, PathPage, StoredMemory, Zone
from recollect.integrations.nexus.nexus_bodies import (
    BatchBody,
    ConsolidateBody,
    IdBody,
    InferenceBody,
    StoreBatchBody,
    StoreBody,
    ZoneId,
)
from recollect.integrations.nexus.nexus_memories import FLAGS, NATIVE_NAMES, TEXTS, in_nexus_form
from recollect.service import RouteDescription

_ID = "01KR3XZBC0BAQNHSCT9EJ4NDPT"
_IDS = Annotated[list[str], Meta(description="Ids of memories.")]
_Count = Annotated[int, Meta(description="How many.")]


class Stored(msgspec.Struct, frozen=True):
    """The id of a stored memory."""

    memory_id: Annotated[str, Meta(description="Id of the memory.")]


class StoredBatch(msgspec.Struct, frozen=True):
    """The ids of stored memories."""

    memory_ids: _IDS
    success: _Count


class StateSet(msgspec.Struct, frozen=True):
    """The state of a memory after `approve` or `deactivate`."""

    memory_id: Annotated[str, Meta(description="Id of the memory.")]
    state: Annotated[str, Meta(description="Its state now: a deleted memory stays deleted.")]
    success: Annotated[bool, Meta(description="Whether it has the state that was asked for.")]


class StatesSet(msgspec.Struct, frozen=True):
    """The result of setting the state of several memories."""

    success: _Count
    failed: _Count
    memory_ids: _IDS
    failed_ids: Annotated[
        list[str], Meta(description="Ids that no memory has, or of a memory that kept its state.")
    ]


class Consolidated(msgspec.Struct, frozen=True):
    """The result of a consolidation."""

    consolidated_ids: _IDS
    archived: _Count
    levels: Annotated[list[dict[str, Any]], Meta(description="The result of each level.")]


class Operations(msgspec.Struct, frozen=True):
    """The long-running operations of a zone."""

    operations: Annotated[list[dict[str, Any]], Meta(description="The latest first.")]
    total: _Count


def _nexus_memory() -> type[msgspec.Struct]:
    """Return the struct of a memory with the names of Nexus' columns."""
    text = {
        name: Annotated[str, Meta(description=description)]
        for name, description in (
            ("zone_id", "The zone."),
            ("entities_json", "The entities in its text, if asked for, as JSON."),
            ("entity_types", "The types of its entities, separated by commas."),
            ("person_refs", "The persons that it names, separated by commas."),
            ("temporal_refs_json", "The dates in its text, if asked for, as JSON."),
            ("relationships_json", "The relationships that it states, if asked for, as JSON."),
        )
    }
    numbers = {
        "importance": Annotated[float, Meta(description="Its importance after decay.")],
        "importance_original": Annotated[float, Meta(description="As it was stored.")],
        "current_version": Annotated[int, Meta(description="Number of this version, from 1.")],
        "relationship_count": Annotated[int, Meta(description="Number of its relationships.")],
    }
    own = {field.name: field.type for field in msgspec.structs.fields(StoredMemory)}
    for name in ("entities", "temporal_refs", "relationships"):
        del own[name]
    fields = {**own, **text, **numbers}
    return msgspec.defstruct("NexusMemory", list(fields.items()), frozen=True, kw_only=True)


NexusMemory: Any = _nexus_memory()
_MemoryPage = msgspec.defstruct(
    "NexusMemoryPage",
    [
        ("memories", Annotated[list[NexusMemory], Meta(description="The memories, newest first.")]),
        ("total", Annotated[int, Meta(description="Number of memories on this page.")]),
        ("cursor", Annotated[str | None, Meta(description="Cursor of the next page.")], None),
    ],
    frozen=True,
)


#: The example of a stored memory, in Nexus' form.
_MEMORY = in_nexus_form(
    "ada", msgspec.convert((Zone.stored_memory.example or (None, None))[1], StoredMemory)
)
_REPORT: Any = (Zone.consolidate_memories.example or (None, None))[1]
_MEMORIES = {"memories": [_MEMORY], "total": 1, "cursor": None}
_CHILDREN = {"memories": [_MEMORY], "total": 1}
_Children = msgspec.defstruct(
    "NexusChildren",
    [
        ("memories", Annotated[list[NexusMemory], Meta(description="The memories.")]),
        ("total", _Count),
    ],
    frozen=True,
)


class _Zoned(msgspec.Struct, frozen=True, kw_only=True):
    zone_id: ZoneId = None


def _query() -> type[msgspec.Struct]:
    """Return the struct of the parameters of a query: the parameters of `query_memories`."""
    native = {
        each.name: each for each in msgspec.structs.fields(Zone.query_memories.request_fields)
    }
    fields = []
    for name in (*TEXTS, *FLAGS, "limit"):
        each = native[NATIVE_NAMES.get(name, name)]
        fields.append((name, each.type, each.default))
    return msgspec.defstruct("NexusQuery", [*fields, ("zone_id", ZoneId, None)], kw_only=True)


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    limit: Annotated[int, Meta(description="Maximum entries of a directory.")] = 100
    cursor: Annotated[str | None, Meta(description="Cursor of the previous page.")] = None
    zone_id: ZoneId = None


_PATH_TYPES = {
    name: {"type": "string", "minLength": 1, "description": description}
    for name, description in (
        ("memory_id", "Id of the memory."),
        ("zone_name", "The zone."),
        ("user", "Id of the user that the memory belongs to."),
        ("agent", "Id of the agent that the memory belongs to."),
        ("filename", "Namespace and path key of the memory, such as people/alice/job."),
    )
}


def _route(
    name: str, method: str, path: str, title: str, description: str, **more: Any
) -> RouteDescription:
    return RouteDescription(
        name=f"nexus_{name}",
        method=method,
        path=path,
        path_types=_PATH_TYPES,
        title=title,
        description=description,
        tag="nexus",
        **more,
    )


def _state_route(name: str, title: str, description: str, state: str) -> RouteDescription:
    return _route(
        name,
        "POST",
        f"/api/memory/{name}",
        title,
        description,
        body=IdBody,
        answer=StateSet,
        example=({"memory_id": _ID}, {"memory_id": _ID, "state": state, "success": True}),
    )


def _batch_route(name: str, title: str, description: str) -> RouteDescription:
    answer = {"success": 1, "failed": 0, "memory_ids": [_ID], "failed_ids": []}
    return _route(
        f"{name}_all",
        "POST",
        f"/api/memory/batch-{name}",
        title,
        description,
        body=BatchBody,
        answer=StatesSet,
        example=({"memory_ids": [_ID]}, answer),
    )


def _path_route(name: str, path: str, title: str, **more: Any) -> RouteDescription:
    return _route(
        name,
        "GET",
        path,
        title,
        "Return the memory at a virtual path. The entries of a directory, if it ends with a slash.",
        **{
            "query": _Page,
            "answer": (NexusMemory, PathPage),
            "example": (None, _MEMORY),
            **more,
        },
    )


_TEXT = {"content": "Alice joined Google.", "namespace": "/people/alice", "path_key": "job"}
ROUTES = (
    _route(
        "store",
        "POST",
        "/api/memory/store",
        "Store a memory",
        "Store a text with its attributes, by default for the token's user.",
        body=StoreBody,
        answer=Stored,
        example=(_TEXT, {"memory_id": _ID}),
    ),
    _route(
        "store_all",
        "POST",
        "/api/memory/batch-store",
        "Store memories",
        "Store texts in one step; none is stored if one is invalid.",
        body=StoreBatchBody,
        answer=StoredBatch,
        example=({"memories": [_TEXT]}, {"memory_ids": [_ID], "success": 1}),
    ),
    _route(
        "query",
        "GET",
        "/api/memory/query",
        "Query memories",
        "Return a page of the memories that match all parameters, newest first.",
        query=_query(),
        answer=_MemoryPage,
        example=(None, _MEMORIES),
    ),
    _route(
        "list",
        "GET",
        "/api/memory/list",
        "List memories",
        "Return a page of the memories of a namespace, or of all that begin with a prefix.",
        query=_query(),
        answer=_MemoryPage,
        example=(None, _MEMORIES),
    ),
    _route(
        "get",
        "GET",
        "/api/memory/{memory_id}",
        "Get a memory",
        "Return a memory with its text, its attributes and its effective importance.",
        query=_Zoned,
        answer=NexusMemory,
        example=(None, _MEMORY),
    ),
    _state_route("approve", "Approve a memory", "Activate an inactive memory.", "active"),
    _state_route("deactivate", "Deactivate a memory", "Deactivate an active memory.", "inactive"),
    _batch_route("approve", "Approve memories", "Activate inactive memories, by one command."),
    _batch_route("deactivate", "Deactivate memories", "Deactivate memories, by one command."),
    _batch_route("delete", "Delete memories", "Delete memories, by one command."),
    _route(
        "consolidate",
        "POST",
        "/api/memory/consolidate",
        "Consolidate memories",
        "Consolidate memories by affinity or by criteria, level by level.",
        body=ConsolidateBody,
        answer=Consolidated,
        example=(
            {"method": "affinity"},
            {"consolidated_ids": [_ID], "archived": 2, "levels": _REPORT["levels"]},
        ),
    ),
    _route(
        "children",
        "GET",
        "/api/memory/{memory_id}/children",
        "Get the parts of a memory",
        "Return the memories that a consolidated one is made of.",
        query=_Zoned,
        answer=_Children,
        example=(None, _CHILDREN),
    ),
    _path_route(
        "object",
        "/objs/memory/{memory_id}",
        "Get a memory by its path",
        query=_Zoned,
        answer=NexusMemory,
    ),
    _path_route("by_user", "/memory/by-user/{user}/{filename}", "Get a user's memory"),
    _path_route("by_agent", "/memory/by-agent/{agent}/{filename}", "Get an agent's memory"),
    _path_route(
        "by_both", "/workspace/{user}/{agent}/memory/{filename}", "Get a memory of a user's agent"
    ),
    _path_route(
        "by_zone",
        "/workspace/{zone_name}/{user}/{agent}/memory/{filename}",
        "Get a memory of a zone",
    ),
    _route(
        "operations",
        "GET",
        "/api/v2/operations",
        "List operations",
        "Return the long-running operations of the zone, the latest first.",
        query=_Zoned,
        answer=Operations,
        example=(None, {"operations": [], "total": 0}),
    ),
    _route(
        "infer",
        "POST",
        "/api/v2/rlm/infer",
        "Infer over a long context",
        "Let the home's model answer over a long context. With `stream`, the answer is server-sent "
        "events instead, as those of `stream_inference`.",
        body=InferenceBody,
        answer=Inference,
        example=Zone.infer.example,
    ),
)
