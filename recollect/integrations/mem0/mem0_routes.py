"""The paths of Mem0's platform, so that its client works when it is pointed here.

They are no part of the OpenAPI document: their shapes are Mem0's. docs/clients.md lists them. The
zone is that of the token; where it is for several, `?zone=` or the header `X-Recollect-Zone` says
which.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from litestar import Router, delete, get, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from recollect import InvalidInput, UnknownId
from recollect.integrations.mem0.mem0_filters import IDS, check_filters, names_somebody
from recollect.integrations.mem0.mem0_store import KEEP, Addition, Mem0Store, Owner
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
#: What else Mem0's client calls.
_UNSERVED = (
    *("/v1/exports", "/v1/exports/get", "/v1/summary", "/v1/feedback"),
    *("/v2/entities/{kind:str}/{name:str}/profile", "/v2/profiles"),
    *("/v2/profiles/{part:str}", "/v2/profiles/{part:str}/{id:str}"),
    "/api/v1/orgs/organizations/{org:str}/projects/{project:str}",
    *("/api/v1/webhooks/{id:str}", "/api/v1/webhooks/projects/{project:str}"),
)


class AddBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `add` sends; options that are for Mem0's models change nothing."""

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
        """Return whose the memories are, as said at the top or under `filters`."""
        said = {name: getattr(self, name) for name in IDS}
        return Owner.of(
            {n: self.filters.get(n) if value is None else value for n, value in said.items()}
        )


class SearchBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `search` sends."""

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
    """What `get_all` sends."""

    filters: dict[str, Any] = {}
    start_date: str | None = None
    end_date: str | None = None
    categories: list[str] | None = None
    show_expired: bool | None = None


class UpdateBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `update` sends; what is left out stays, a null `expiration_date` goes."""

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
    """What `batch_update` and `batch_delete` send."""

    memories: Annotated[list[BatchItem], msgspec.Meta(max_length=_MAX_BATCH_SIZE)]


def zone_of(request: AnyRequest) -> str:
    """Return the zone that a request means: one that it names, or the one of its token.

    Raises:
        Refused: the token is for several, and the request names none.
    """
    named = request.query_params.get("zone") or request.headers.get(_ZONE_HEADER)
    zone = str(named) if named else principal_in(request).only_zone
    if zone is None:
        raise Refused(
            INVALID, f"the token is for several zones; say which with the header {_ZONE_HEADER}"
        )
    return zone


@get("/v1/ping", opt=_READ)
async def ping(request: AnyRequest) -> dict[str, Any]:
    """Say that the token counts; the client asks once, when it is made."""
    # The client refuses to work without the names of an organization and a project.
    return {
        "status": "ok",
        "org_id": "recollect",
        "project_id": zone_of(request),
        "user_email": None,
    }


@post("/v3/memories/add", status_code=200, opt=_WRITE)
async def add(request: AnyRequest, data: JSONBody[AddBody]) -> dict[str, Any]:
    """Remember messages, and return what they came to."""
    zone, mark = zone_of(request), principal_in(request).metadata(zone_of(request))
    done: Addition = await write(
        request,
        zone,
        lambda held: Mem0Store(held).publish(
            data.messages,
            data.owner(),
            metadata=data.metadata,
            infer=data.infer is not False,
            at=data.timestamp,
            expiration_date=data.expiration_date,
            principal=mark,
        ),
        allow_empty=True,
    )
    whole = await decided_in_time(request, zone, done.token)
    found = await _quietly(request, zone, lambda store: store.added(done.id))
    return {
        "message": "Memories added" if whole else "Kept; facts are still being decided",
        "status": "SUCCEEDED" if whole else "PENDING",
        "event_id": done.id,
        "results": found,
    }


@get("/v1/event/{event_id:str}", opt=_READ)
async def event(request: AnyRequest, event_id: FromPath[str]) -> dict[str, Any]:
    """Return what an addition came to."""
    zone = zone_of(request)
    found = await ask(request, zone, lambda held: Mem0Store(held).added(event_id))
    return {"id": event_id, "event_id": event_id, "status": "SUCCEEDED", "results": found}


@post("/v3/memories/search", status_code=200, opt=_READ)
async def search(request: AnyRequest, data: JSONBody[SearchBody]) -> dict[str, Any]:
    """Return the memories that answer a question, among those that the filters let through."""
    among = [{"metadata": data.metadata}] if data.metadata else []
    filters = _narrowed(_somebodys(data.filters), data.categories, *among)
    found = await _quietly(
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
        found = [{name: one[name] for name in one if name in data.fields} for one in found]
    return {"results": found}


@post("/v3/memories", status_code=200, opt=_READ)
async def list_all(
    request: AnyRequest,
    data: JSONBody[ListBody],
    page: FromQuery[int] = 1,
    page_size: FromQuery[int] = 100,
) -> dict[str, Any]:
    """Return a page of the memories that the filters let through, the newest first."""
    if page < 1 or not 1 <= page_size <= _MAX_PAGE_SIZE:
        raise InvalidInput(f"page: from 1; page_size: 1 to {_MAX_PAGE_SIZE}")
    between = {
        operator: day
        for operator, day in (("gte", data.start_date), ("lte", data.end_date))
        if day is not None
    }
    among = [{"created_at": between}] if between else []
    filters = _narrowed(_somebodys(data.filters), data.categories, *among)
    found = await _quietly(
        request,
        zone_of(request),
        lambda store: store.listed(filters, show_expired=bool(data.show_expired)),
    )
    first = (page - 1) * page_size
    shown = found[first : first + page_size]
    return {
        "count": len(found),
        "next": _page(page + 1, page_size) if first + page_size < len(found) else None,
        "previous": _page(page - 1, page_size) if page > 1 else None,
        "results": shown,
    }


@get("/v1/memories/{memory_id:str}", opt=_READ)
async def get_one(request: AnyRequest, memory_id: FromPath[str]) -> dict[str, Any]:
    """Return a memory."""
    found = await ask(request, zone_of(request), lambda held: Mem0Store(held).get(memory_id))
    if found is None:
        raise _unknown(memory_id)
    return found


@put("/v1/memories/{memory_id:str}", opt=_WRITE)
async def update(
    request: AnyRequest, memory_id: FromPath[str], data: JSONBody[UpdateBody]
) -> dict[str, Any]:
    """Put a text in the place of a memory's, and add to its metadata."""
    unset = data.expiration_date is msgspec.UNSET
    if data.text is None and data.metadata is None and data.timestamp is None and unset:
        raise InvalidInput("give text, metadata, timestamp or expiration_date")
    zone, mark = zone_of(request), principal_in(request).metadata(zone_of(request))
    done: Addition = await write(
        request,
        zone,
        lambda held: Mem0Store(held).update(
            memory_id,
            text=data.text,
            metadata=data.metadata,
            at=data.timestamp,
            expiration_date=KEEP if unset else data.expiration_date,
            principal=mark,
        ),
    )
    await decided_in_time(request, zone, done.token)
    found = await ask(request, zone, lambda held: Mem0Store(held).get(done.id))
    return {"message": "Memory updated successfully!", **(found or {})}


@delete("/v1/memories/{memory_id:str}", status_code=200, opt=_WRITE)
async def delete_one(request: AnyRequest, memory_id: FromPath[str]) -> dict[str, Any]:
    """Take a memory back; its message stays, with what else it says."""
    await write(request, zone_of(request), lambda held: Mem0Store(held).delete(memory_id))
    return {"message": "Memory deleted successfully!"}


@get("/v1/memories/{memory_id:str}/history", opt=_READ)
async def history(request: AnyRequest, memory_id: FromPath[str]) -> list[dict[str, Any]]:
    """Return what a memory said, the first first; its deletion comes last."""
    found = await ask(request, zone_of(request), lambda held: Mem0Store(held).history(memory_id))
    if not found:
        raise _unknown(memory_id)
    return found


@delete("/v1/memories", status_code=200, opt=_FORGET)
async def delete_all(
    request: AnyRequest, said: Annotated[str | None, QueryParameter(name="filters")] = None
) -> dict[str, Any]:
    """Forget for good what all the given ids apply to."""
    filters: dict[str, Any] = {} if said is None else dict(_read_filters(said))
    filters |= {name: request.query_params[name] for name in IDS if name in request.query_params}
    await _forget(request, _somebodys(filters))
    return {"message": "Memories deleted successfully!"}


@get("/v1/entities", opt=_READ)
async def entities(request: AnyRequest) -> dict[str, Any]:
    """Return the users, agents, apps and runs of which there are memories."""
    found = await _quietly(request, zone_of(request), lambda store: store.owners())
    return {"count": len(found), "next": None, "previous": None, "results": found}


@delete("/v2/entities/{kind:str}/{name:str}", status_code=200, opt=_FORGET)
async def delete_entity(
    request: AnyRequest, kind: FromPath[str], name: FromPath[str]
) -> dict[str, Any]:
    """Forget for good all memories of a user, an agent, an app or a run."""
    if f"{kind}_id" not in IDS:
        raise InvalidInput(f"type {kind[:40]!r}: choose from user, agent, app, run")
    await _forget(request, Owner.of({f"{kind}_id": name}).filters)
    return {"message": "Entity deleted successfully!"}


@put("/v1/batch", opt=_WRITE)
async def batch_update(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Update memories one after the other; the first that cannot be ends it."""
    zone, mark = zone_of(request), principal_in(request).metadata(zone_of(request))

    def update_each(store: Mem0Store) -> Addition | None:
        done = None
        for item in data.memories:
            done = store.update(
                item.memory_id, text=item.text, metadata=item.metadata, principal=mark
            )
        return done

    last = await write(request, zone, lambda held: update_each(Mem0Store(held)))
    if last is not None:
        await decided_in_time(request, zone, last.token)
    return {"message": f"Successfully updated {len(data.memories)} memories"}


@delete("/v1/batch", status_code=200, opt=_WRITE)
async def batch_delete(request: AnyRequest, data: JSONBody[BatchBody]) -> dict[str, Any]:
    """Take memories back one after the other."""

    def delete_each(store: Mem0Store) -> None:
        there = [item.memory_id for item in data.memories]
        for memory_id in there:
            if store.get(memory_id) is None:
                raise _unknown(memory_id)
        for memory_id in there:
            if store.get(memory_id) is not None:
                store.delete(memory_id)

    await write(request, zone_of(request), lambda held: delete_each(Mem0Store(held)))
    return {"message": f"Successfully deleted {len(data.memories)} memories"}


async def _forget(request: AnyRequest, filters: Mapping[str, Any]) -> None:
    zone = zone_of(request)
    await write(request, zone, lambda held: Mem0Store(held).delete_all(filters), allow_empty=True)
    drop_cached_answers(request, zone)


async def _quietly(request: AnyRequest, zone: str, work: Any) -> list[dict[str, Any]]:
    """Return what is found in a zone; nothing where it holds nothing yet."""
    found: list[dict[str, Any]] = await ask(request, zone, lambda held: work(Mem0Store(held)))
    return found


def _somebodys(filters: dict[str, Any]) -> dict[str, Any]:
    """Return filters that are known, and say whose memories are meant.

    Raises:
        Refused: a field or an operator is not known.
        InvalidInput: they name nobody.
    """
    try:
        check_filters(filters)
    except InvalidInput as error:
        raise Refused(MALFORMED, str(error)) from None
    if not names_somebody(filters):
        raise InvalidInput(f"filters: name at least one of {', '.join(IDS)}")
    return filters


def _narrowed(
    filters: dict[str, Any], categories: list[str] | None, *others: dict[str, Any]
) -> dict[str, Any]:
    """Return filters that let through what all of these let through."""
    among = [{"categories": {"in": categories}}] if categories else []
    return {"AND": [filters, *others, *among]} if among or others else filters


def _read_filters(text: str) -> dict[str, Any]:
    """Return filters of a query: the client writes them there as Python does."""
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
