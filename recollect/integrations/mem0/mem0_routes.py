"""The endpoints of Mem0's platform, for its unmodified client.

The OpenAPI document leaves them out, since Mem0 defines their shapes. docs/clients.md lists them.
The token determines the zone; a token for several zones needs `?zone=` or the header
`X-Recollect-Zone`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from litestar import Router, delete, get, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from recollect import InvalidInput, UnknownId
from recollect.integrations.mem0.mem0_filters import IDS, check_filters, names_an_owner
from recollect.integrations.mem0.mem0_store import UNCHANGED, Addition, Mem0Store, Owner
from recollect.integrations.unserved import unserved
from recollect.service import (
    INVALID,
    MALFORMED,
    AnyRequest,
    JsonBody,
    Refused,
    ask,
    decided_in_time,
    drop_cached_answers,
    principal_in,
    require_principal,
    write,
)

_MAX_PAGE_SIZE = 1_000
_MAX_BATCH_SIZE = 1_000
_READ, _WRITE, _FORGET = {"right": "read"}, {"right": "write"}, {"right": "forget"}
_ZONE_HEADER = "X-Recollect-Zone"
#: The paths that Mem0's client calls and that are not supported.
_UNSERVED = (
    *("/v1/exports", "/v1/exports/get", "/v1/summary", "/v1/feedback", "/v1/events"),
    # Clients before version 2 delete a user here.
    "/v1/entities/{kind:str}/{name:str}",
    *("/v2/entities/{kind:str}/{name:str}/profile", "/v2/profiles"),
    *("/v2/profiles/{part:str}", "/v2/profiles/{part:str}/{id:str}"),
    "/api/v1/orgs/organizations/{org:str}/projects/{project:str}",
    *("/api/v1/webhooks/{id:str}", "/api/v1/webhooks/projects/{project:str}"),
)


class AddBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `add`; options for Mem0's models have no effect."""

    messages: Any
    filters: dict[str, Any] = {}
    user_id: Any = None
    agent_id: Any = None
    app_id: Any = None
    run_id: Any = None
    metadata: dict[str, Any] | None = None
    infer: bool | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = None

    def owner(self) -> Owner:
        """Return the owner, given at the top level or under `filters`."""
        top_level = {name: getattr(self, name) for name in IDS}
        return Owner.of(
            {n: self.filters.get(n) if value is None else value for n, value in top_level.items()}
        )


class SearchBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `search`."""

    query: str
    filters: dict[str, Any] = {}
    top_k: Annotated[int, msgspec.Meta(ge=1, le=_MAX_PAGE_SIZE)] | None = None
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    metadata: dict[str, Any] | None = None
    categories: list[str] | None = None
    fields: list[str] | None = None
    reference_date: str | int | None = None
    show_expired: bool | None = None


class ListBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `get_all`."""

    filters: dict[str, Any] = {}
    start_date: str | None = None
    end_date: str | None = None
    categories: list[str] | None = None
    show_expired: bool | None = None


class UpdateBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `update`; absent fields stay, and null removes the `expiration_date`."""

    text: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | msgspec.UnsetType | None = msgspec.UNSET


class BatchItem(msgspec.Struct, frozen=True, kw_only=True):
    """One memory of a batch."""

    memory_id: str
    text: str | None = None
    metadata: dict[str, Any] | None = None


class BatchBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `batch_update` and `batch_delete`."""

    memories: Annotated[list[BatchItem], msgspec.Meta(max_length=_MAX_BATCH_SIZE)]


def zone_of(request: AnyRequest) -> str:
    """Return the zone of a request: the one that it names, or the only one of its token.

    Raises:
        Refused: the token is for several zones, and the request names none.
    """
    named_fields = request.query_params.get("zone") or request.headers.get(_ZONE_HEADER)
    zone = str(named_fields) if named_fields else principal_in(request).only_zone
    if zone is None:
        raise Refused(
            INVALID,
            f"the access token covers several zones; name one in the header {_ZONE_HEADER}",
        )
    return zone


@get("/v1/ping", opt=_READ)
async def ping(request: AnyRequest) -> dict[str, Any]:
    """Confirm that the token is valid; a new client calls this once."""
    # The client requires an organization and a project.
    return {
        "status": "ok",
        "org_id": "recollect",
        "project_id": zone_of(request),
        "user_email": None,
    }


@post("/v3/memories/add", status_code=200, opt=_WRITE)
async def add(request: AnyRequest, data: JSONBody[AddBody]) -> dict[str, Any]:
    """Store messages, and return their memories."""
    zone, principal = zone_of(request), principal_in(request).metadata(zone_of(request))
    done: Addition = await write(
        request,
        zone,
        lambda opened: Mem0Store(opened).publish(
            data.messages,
            data.owner(),
            metadata=data.metadata,
            infer=data.infer is not False,
            at=data.timestamp,
            expiration_date=data.expiration_date,
            principal=principal,
        ),
        allow_empty=True,
    )
    is_decided = await decided_in_time(request, zone, done.token)
    added = await ask(request, zone, lambda opened: Mem0Store(opened).added(done.id))
    return {
        "message": "Memories added"
        if is_decided
        else "Messages stored; facts are still being extracted",
        "status": "SUCCEEDED" if is_decided else "PENDING",
        "event_id": done.id,
        "results": added.memories,
    }


@get("/v1/event/{event_id:str}", opt=_READ)
async def event(request: AnyRequest, event_id: FromPath[str]) -> dict[str, Any]:
    """Return the memories of an addition."""
    zone = zone_of(request)
    added = await ask(request, zone, lambda opened: Mem0Store(opened).added(event_id))
    return {
        "id": event_id,
        "event_id": event_id,
        "status": "SUCCEEDED" if added.is_decided else "PENDING",
        "results": added.memories,
    }


@post("/v3/memories/search", status_code=200, opt=_READ)
async def search(request: AnyRequest, data: JSONBody[SearchBody]) -> dict[str, Any]:
    """Return the memories that match the filters and answer a question."""
    metadata_filters = [{"metadata": data.metadata}] if data.metadata else []
    filters = _all_of(_checked_filters(data.filters), data.categories, *metadata_filters)
    memories = await _query(
        request,
        zone_of(request),
        lambda store: store.search(
            data.query,
            filters,
            top_k=data.top_k or 10,
            threshold=data.threshold or 0.0,
            asked_at=data.reference_date,
            show_expired=bool(data.show_expired),
        ),
    )
    if data.fields:
        memories = [{name: one[name] for name in one if name in data.fields} for one in memories]
    return {"results": memories}


@post("/v3/memories", status_code=200, opt=_READ)
async def list_all(
    request: AnyRequest,
    data: JSONBody[ListBody],
    page: FromQuery[int] = 1,
    page_size: FromQuery[int] = 100,
) -> dict[str, Any]:
    """Return a page of the memories that match the filters, newest first."""
    if page < 1 or not 1 <= page_size <= _MAX_PAGE_SIZE:
        raise InvalidInput(f"give a page of 1 or more, and a page_size from 1 to {_MAX_PAGE_SIZE}")
    between = {
        operator: day
        for operator, day in (("gte", data.start_date), ("lte", data.end_date))
        if day is not None
    }
    time_filters = [{"created_at": between}] if between else []
    filters = _all_of(_checked_filters(data.filters), data.categories, *time_filters)
    memories = await _query(
        request,
        zone_of(request),
        lambda store: store.list_memories(filters, show_expired=bool(data.show_expired)),
    )
    first = (page - 1) * page_size
    shown = memories[first : first + page_size]
    return {
        "count": len(memories),
        "next": _page(page + 1, page_size) if first + page_size < len(memories) else None,
        "previous": _page(page - 1, page_size) if page > 1 else None,
        "results": shown,
    }


@get("/v1/memories/{memory_id:str}", opt=_READ)
async def get_one(request: AnyRequest, memory_id: FromPath[str]) -> dict[str, Any]:
    """Return a memory."""
    found = await ask(request, zone_of(request), lambda opened: Mem0Store(opened).get(memory_id))
    if found is None:
        raise _unknown(memory_id)
    return found


@put("/v1/memories/{memory_id:str}", opt=_WRITE)
async def update(
    request: AnyRequest, memory_id: FromPath[str], data: JSONBody[UpdateBody]
) -> dict[str, Any]:
    """Replace the text of a memory, and add to its metadata."""
    unset = data.expiration_date is msgspec.UNSET
    if data.text is None and data.metadata is None and data.timestamp is None and unset:
        raise InvalidInput(
            "give at least one of `text`, `metadata`, `timestamp` and `expiration_date`"
        )
    zone, principal = zone_of(request), principal_in(request).metadata(zone_of(request))
    done: Addition = await write(
        request,
        zone,
        lambda opened: Mem0Store(opened).update(
            memory_id,
            text=data.text,
            metadata=data.metadata,
            at=data.timestamp,
            expiration_date=UNCHANGED if unset else data.expiration_date,
            principal=principal,
        ),
    )
    await decided_in_time(request, zone, done.token)
    memory = await ask(request, zone, lambda opened: Mem0Store(opened).get(done.id))
    return {"message": "Memory updated successfully!", **(memory or {})}


@delete("/v1/memories/{memory_id:str}", status_code=200, opt=_WRITE)
async def delete_one(request: AnyRequest, memory_id: FromPath[str]) -> dict[str, Any]:
    """Retract a memory; the rest of its message stays."""
    await write(request, zone_of(request), lambda opened: Mem0Store(opened).delete(memory_id))
    return {"message": "Memory deleted successfully!"}


@get("/v1/memories/{memory_id:str}/history", opt=_READ)
async def history(request: AnyRequest, memory_id: FromPath[str]) -> list[dict[str, Any]]:
    """Return the versions of a memory, oldest first; a deletion comes last."""
    found = await ask(
        request, zone_of(request), lambda opened: Mem0Store(opened).history(memory_id)
    )
    if not found:
        raise _unknown(memory_id)
    return found


@delete("/v1/memories", status_code=200, opt=_FORGET)
async def delete_all(
    request: AnyRequest, text: Annotated[str | None, QueryParameter(name="filters")] = None
) -> dict[str, Any]:
    """Erase the memories that have all the given ids, for good."""
    filters: dict[str, Any] = {} if text is None else dict(_read_filters(text))
    filters |= {name: request.query_params[name] for name in IDS if name in request.query_params}
    if filters == dict.fromkeys(IDS, "*"):
        # By this, Mem0's client means all memories. Taken literally, it would match only memories
        # with an id of every kind.
        filters = {"OR": [{name: "*"} for name in IDS]}
    await _forget(request, _checked_filters(filters))
    return {"message": "Memories deleted successfully!"}


@get("/v1/entities", opt=_READ)
async def entities(request: AnyRequest) -> dict[str, Any]:
    """Return the users, agents, apps and runs that have memories."""
    found = await _query(request, zone_of(request), lambda store: store.owners())
    return {"count": len(found), "next": None, "previous": None, "results": found}


@delete("/v2/entities/{kind:str}/{name:str}", status_code=200, opt=_FORGET)
async def delete_entity(
    request: AnyRequest, kind: FromPath[str], name: FromPath[str]
) -> dict[str, Any]:
    """Erase all memories of a user, an agent, an app or a run, for good."""
    if f"{kind}_id" not in IDS:
        raise InvalidInput(f"type {kind[:40]!r}: choose from user, agent, app, run")
    await _forget(request, Owner.of({f"{kind}_id": name}).filters)
    return {"message": "Entity deleted successfully!"}


@put("/v1/batch", opt=_WRITE)
async def batch_update(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Update memories in order; stop at the first error."""
    zone, principal = zone_of(request), principal_in(request).metadata(zone_of(request))

    def update_each(store: Mem0Store) -> Addition | None:
        done = None
        for item in data.memories:
            done = store.update(
                item.memory_id, text=item.text, metadata=item.metadata, principal=principal
            )
        return done

    last = await write(request, zone, lambda opened: update_each(Mem0Store(opened)))
    if last is not None:
        await decided_in_time(request, zone, last.token)
    return {"message": f"Successfully updated {len(data.memories)} memories"}


@delete("/v1/batch", status_code=200, opt=_WRITE)
async def batch_delete(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Retract memories; if one of the ids is unknown, retract none."""

    def delete_each(store: Mem0Store) -> None:
        ids = [item.memory_id for item in data.memories]
        for memory_id in ids:
            if store.get(memory_id) is None:
                raise _unknown(memory_id)
        for memory_id in ids:
            if store.get(memory_id) is not None:
                store.delete(memory_id)

    await write(request, zone_of(request), lambda opened: delete_each(Mem0Store(opened)))
    return {"message": f"Successfully deleted {len(data.memories)} memories"}


async def _forget(request: AnyRequest, filters: Mapping[str, Any]) -> None:
    zone = zone_of(request)
    await write(
        request, zone, lambda opened: Mem0Store(opened).delete_all(filters), allow_empty=True
    )
    drop_cached_answers(request, zone)


async def _query(request: AnyRequest, zone: str, work: Any) -> list[dict[str, Any]]:
    """Return the result of `work` on the memories of a zone."""
    found: list[dict[str, Any]] = await ask(request, zone, lambda opened: work(Mem0Store(opened)))
    return found


def _checked_filters(filters: dict[str, Any]) -> dict[str, Any]:
    """Return filters after checking them.

    Raises:
        Refused: the filters are malformed, or a field or an operator is unknown.
        InvalidInput: the filters name no owner.
    """
    try:
        check_filters(filters)
    except InvalidInput as error:
        raise Refused(MALFORMED, str(error)) from None
    if not names_an_owner(filters):
        raise InvalidInput(f"filters: name at least one of {', '.join(IDS)}")
    return filters


def _all_of(
    filters: dict[str, Any], categories: list[str] | None, *others: dict[str, Any]
) -> dict[str, Any]:
    """Return the conjunction of some filters."""
    category_filters = [{"categories": {"in": categories}}] if categories else []
    return {"AND": [filters, *others, *category_filters]} if category_filters or others else filters


def _read_filters(text: str) -> dict[str, Any]:
    """Parse filters in a query string, where the client writes them as a Python literal."""
    try:
        found = ast.literal_eval(text)
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput("filters: give them as user_id=, agent_id=, app_id= or run_id=")
    return found


def _page(page: int, page_size: int) -> str:
    return f"/v3/memories/?page={page}&page_size={page_size}"


def _unknown(memory_id: str) -> UnknownId:
    return UnknownId(f"no memory has the id {memory_id!r}")


ROUTER = Router(
    "/",
    route_handlers=[
        *(ping, add, event, search, list_all, get_one, update, delete_one, history),
        *(delete_all, entities, delete_entity, batch_update, batch_delete),
    ],
    guards=[require_principal],
    dto=JsonBody,
    return_dto=None,
    include_in_schema=False,
)
ROUTERS = (ROUTER, unserved("/", _UNSERVED))
