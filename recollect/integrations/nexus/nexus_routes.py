"""The HTTP routes of Nexus' memory service."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import MediaType, Response, Router, get, post
from litestar.params import FromPath, JSONBody

from recollect import UnknownZone
from recollect.integrations.nexus import nexus_memories
from recollect.integrations.nexus.nexus_bodies import (
    BatchBody,
    ConsolidateBody,
    IdBody,
    InferenceBody,
    StoreBatchBody,
    StoreBody,
)
from recollect.integrations.nexus.nexus_descriptions import ROUTES
from recollect.service import (
    INVALID,
    MALFORMED,
    AnyRequest,
    JsonBody,
    Refused,
    ask,
    inferred,
    principal_in,
    require_principal,
    service_of,
    streamed,
    write,
)

_READ, _WRITE = {"right": "read"}, {"right": "write"}
#: Where virtual paths begin.
_MOUNTS = ("/objs/memory", "/memory", "/workspace")


def _zone(request: AnyRequest, named: str | None = None) -> str:
    """Return the zone of a request: the one that it names, or the only one of its token.

    Raises:
        Refused: the token is for several zones, and the request names none.
    """
    zone = named or request.query_params.get("zone_id") or principal_in(request).only_zone
    if zone is None:
        raise Refused(INVALID, "the access token covers several zones; name one as zone_id")
    return str(zone)


@post("/memory/store", status_code=200, opt=_WRITE)
async def store(request: AnyRequest, data: JSONBody[StoreBody]) -> dict[str, Any]:
    """Store a memory."""
    stored = await _store(request, [data], _zone(request, data.zone_id))
    return {"memory_id": stored[0]}


@post("/memory/batch-store", status_code=200, opt=_WRITE)
async def store_batch(request: AnyRequest, data: JSONBody[StoreBatchBody]) -> dict[str, Any]:
    """Store memories, in one step."""
    stored = await _store(request, data.memories, _zone(request, data.zone_id))
    return {"memory_ids": stored, "success": len(stored)}


async def _store(request: AnyRequest, bodies: list[StoreBody], zone: str) -> list[str]:
    memories = [nexus_memories.to_input(body) for body in bodies]
    mark = principal_in(request).metadata(zone)
    receipts = await write(
        request,
        zone,
        lambda opened: opened.store_memories(memories, principal=mark),
        allow_empty=True,
    )
    return [receipt.event_id for receipt in receipts]


@get(["/memory/query", "/memory/list"], opt=_READ)
async def query(request: AnyRequest) -> dict[str, Any]:
    """Return the memories that match all parameters."""
    given = _parameters(request)
    return await ask(request, _zone(request), lambda zone: nexus_memories.page(zone, given))


def _parameters(request: AnyRequest) -> dict[str, str]:
    """Return the query parameters.

    Raises:
        Refused: one is given more than once.
    """
    given = request.query_params
    if repeated := [name for name in given if len(given.getall(name)) > 1]:
        raise Refused(MALFORMED, f"{repeated[0][:60]} is given more than once")
    return {name: str(value) for name, value in given.items()}


@get("/memory/{memory_id:str}", opt=_READ)
async def get_one(request: AnyRequest, memory_id: FromPath[str]) -> dict[str, Any]:
    """Return a memory with its text, its attributes and its effective importance."""
    return await ask(request, _zone(request), lambda zone: nexus_memories.one(zone, memory_id))


@post("/memory/approve", status_code=200, opt=_WRITE)
async def approve(request: AnyRequest, data: JSONBody[IdBody]) -> dict[str, Any]:
    """Activate an inactive memory."""
    return await _set_one(request, data, "active")


@post("/memory/deactivate", status_code=200, opt=_WRITE)
async def deactivate(request: AnyRequest, data: JSONBody[IdBody]) -> dict[str, Any]:
    """Deactivate an active memory."""
    return await _set_one(request, data, "inactive")


async def _set_one(request: AnyRequest, body: IdBody, state: str) -> dict[str, Any]:
    return await write(
        request,
        _zone(request, body.zone_id),
        lambda zone: nexus_memories.set_one_state(zone, body.memory_id, state),
    )


@post("/memory/batch-approve", status_code=200, opt=_WRITE)
async def approve_batch(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Activate inactive memories, by one command."""
    return await _set_all(request, data, "active")


@post("/memory/batch-deactivate", status_code=200, opt=_WRITE)
async def deactivate_batch(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Deactivate active memories, by one command."""
    return await _set_all(request, data, "inactive")


@post("/memory/batch-delete", status_code=200, opt=_WRITE)
async def delete_batch(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Delete memories, by one command; their texts stay in the ledger until they are forgotten."""
    return await _set_all(request, data, "deleted")


async def _set_all(request: AnyRequest, body: BatchBody, state: str) -> dict[str, Any]:
    return await write(
        request,
        _zone(request, body.zone_id),
        lambda zone: nexus_memories.set_state(zone, body.memory_ids, state),
    )


@post("/memory/consolidate", status_code=200, opt=_WRITE)
async def consolidate(request: AnyRequest, data: JSONBody[ConsolidateBody]) -> dict[str, Any]:
    """Consolidate memories by affinity or by criteria, level by level."""
    asked = {name: getattr(data, name) for name in data.__struct_fields__ if name != "zone_id"}
    report = await write(
        request, _zone(request, data.zone_id), lambda zone: zone.consolidate_memories(**asked)
    )
    levels = msgspec.to_builtins(report.levels)
    made = [id_ for each in report.levels for id_ in each.memory_ids]
    archived = sum(each.archived for each in report.levels)
    return {"consolidated_ids": made, "archived": archived, "levels": levels}


@get("/memory/{memory_id:str}/children", opt=_READ)
async def children(request: AnyRequest, memory_id: FromPath[str]) -> dict[str, Any]:
    """Return the memories that a consolidated one is made of."""

    def found(zone: Any) -> dict[str, Any]:
        try:
            memories = zone.memory_children(memory_id)
        except UnknownZone:
            raise nexus_memories.unknown(memory_id) from None
        shown = [nexus_memories.in_nexus_form(zone.name, memory) for memory in memories]
        return {"memories": shown, "total": len(shown)}

    return await ask(request, _zone(request), found)


@get("/v2/operations", opt={"right": "admin"})
async def operations(request: AnyRequest) -> dict[str, Any]:
    """Return the long-running operations of the zone, the latest first."""
    zone = _zone(request)
    await ask(request, zone, lambda opened: None)
    found = service_of(request).operations.of_zone(zone)
    return {"operations": msgspec.to_builtins(found), "total": len(found)}


@post("/v2/rlm/infer", status_code=200, opt=_WRITE)
async def infer(request: AnyRequest, data: JSONBody[InferenceBody]) -> Response[Any]:
    """Infer over a long context; with `stream`, send events while it runs."""
    zone = _zone(request, data.zone_id)
    given = msgspec.structs.asdict(data)
    del given["zone_id"]
    if given.pop("stream"):
        return await streamed(request, zone, given)
    result = await inferred(request, zone, given)
    return Response(msgspec.json.encode(result), media_type=MediaType.JSON)


@get([*_MOUNTS, *(f"{mount}/{{below:path}}" for mount in _MOUNTS)], opt=_READ)
async def at_path(request: AnyRequest) -> dict[str, Any]:
    """Return the memory at a virtual path, or the entries of a directory if it ends with /."""
    # Undecoded, since a name may have an escaped slash.
    path = request.scope["raw_path"].partition(b"?")[0].decode("latin-1")
    given = _parameters(request)
    found = nexus_memories.directory if path.endswith("/") else nexus_memories.at_path
    return await ask(request, _zone(request), lambda zone: found(zone, path, given))


ROUTER = Router(
    "/api",
    route_handlers=[
        *(store, store_batch, query, get_one, approve, deactivate),
        *(approve_batch, deactivate_batch, delete_batch, consolidate, children, operations),
        infer,
    ],
    guards=[require_principal],
    dto=JsonBody,
    return_dto=None,
    include_in_schema=False,
    opt={"descriptions": ROUTES},
)
PATHS_ROUTER = Router(
    "/",
    route_handlers=[at_path],
    guards=[require_principal],
    return_dto=None,
    include_in_schema=False,
)
ROUTERS = (ROUTER, PATHS_ROUTER)
