"""The paths of Hindsight, so that its client works when it is pointed here: a bank is a zone.

They are no part of the OpenAPI document: their shapes are Hindsight's. docs/clients.md lists them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar import Router, delete, get, post, put
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Meta

from recollect import Entity, InvalidInput, MentalModel, Result, Status, Zone, paginate
from recollect.integrations.hindsight import hindsight_upkeep_routes
from recollect.integrations.hindsight.hindsight_bank import (
    HindsightBank,
    Retained,
    TagsMatch,
    moment,
    unit,
)
from recollect.integrations.unserved import unserved
from recollect.service import (
    AnyRequest,
    JsonBody,
    ask,
    decided_in_time,
    erased_in,
    must_be_somebody,
    nothing_here,
    principal_in,
    read,
    service_of,
    write,
)

_MAX_BATCH_SIZE = 1_000
_MAX_TOKENS = 100_000
_READ, _WRITE, _FORGET = {"right": "read"}, {"right": "write"}, {"right": "forget"}
#: What else Hindsight's client calls, below a bank.
_UNSERVED = (
    *("/background", "/aliases", "/aliases/{name:str}", "/consolidate", "/consolidation/recover"),
    *("/consolidation-strategies/preview", "/prompts/preview", "/health/llm", "/export", "/import"),
    *("/clone", "/transfer/export", "/transfer/import", "/document-transfer", "/files/retain"),
    *("/document-transfer/export", "/directives", "/directives/{id:str}", "/webhooks", "/tags"),
    *("/webhooks/{id:str}", "/webhooks/{id:str}/deliveries", "/audit-logs", "/audit-logs/stats"),
    *("/audit-logs/{id:str}", "/llm-requests", "/llm-requests/stats", "/graph", "/observations"),
    *("/observations/scopes", "/attachments/{id:str}", "/stats/memories-timeseries"),
    *("/memories/dry-run-extract", "/memories/{memory_id:str}/observations"),
    *("/memories/{memory_id:str}/history", "/entities/{entity_id:str}/regenerate"),
    *("/documents/{document_id:str}/history", "/documents/{document_id:str}/chunks"),
    *("/documents/{document_id:str}/reprocess", "/mental-models/{model_id:str}/clear"),
    *("/mental-models/{model_id:str}/dry-run-refresh", "/mental-models/{model_id:str}/refresh"),
    *("/mental-models/{model_id:str}/history", "/operations/{operation_id:str}/retry"),
    *("/operations/{operation_id:str}/delete", "/knowledge-base/folders", "/knowledge-base/pages"),
    *("/knowledge-base/pages/{id:str}", "/knowledge-base/nodes/{id:str}", "/knowledge-base/tree"),
    *("/knowledge-base/export", "/knowledge-base/search"),
)
# How a bank of Hindsight is by default; here nothing depends on it.
_EVEN = {"skepticism": 3, "literalism": 3, "empathy": 3}

Budget = Literal["low", "mid", "high"]
Tokens = Annotated[int, Meta(ge=1, le=_MAX_TOKENS)]


class ItemBody(msgspec.Struct, frozen=True, kw_only=True):
    """A content to retain."""

    content: Any
    timestamp: str | int | None = None
    context: str | None = None
    metadata: dict[str, Any] | None = None
    document_id: str | None = None
    tags: list[str] | None = None
    update_mode: Literal["replace", "append"] | None = None


class RetainBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `retain` and `retain_batch` send."""

    items: Annotated[list[ItemBody], Meta(min_length=1, max_length=_MAX_BATCH_SIZE)]
    in_background: bool | None = msgspec.field(default=False, name="async")
    document_tags: list[str] | None = None
    operation_id: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


class WindowBody(msgspec.Struct, frozen=True, kw_only=True):
    """A span of time, both ends inclusive."""

    start: str
    end: str


class ScoresBody(msgspec.Struct, frozen=True, kw_only=True):
    """What a result must score at least."""

    final: float | None = None
    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None


class RecallBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `recall` sends."""

    query: str
    types: list[Literal["world", "experience", "observation"]] | None = None
    budget: Budget | None = None
    max_tokens: Tokens | None = None
    query_timestamp: str | None = None
    tags: list[str] | None = None
    tags_match: TagsMatch | None = None
    tag_groups: list[Any] | None = None
    min_scores: ScoresBody | None = None
    temporal_window: WindowBody | None = None


class ReflectBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `reflect` sends."""

    query: str
    budget: Budget | None = None
    context: str | None = None
    max_tokens: Tokens | None = None
    include: dict[str, Any] | None = None
    response_schema: dict[str, Any] | None = None
    tags: list[str] | None = None
    tag_groups: list[Any] | None = None
    fact_types: list[str] | None = None


class ModelBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `create_mental_model` sends."""

    name: str
    source_query: str


@get("/", opt=_READ)
async def banks(request: AnyRequest) -> dict[str, Any]:
    """Return the zones that hold something and that the token may read."""
    principal, service = principal_in(request), service_of(request)
    found = await service.reading.run(service.recollect.zones)
    named = [zone for zone in found if principal.may(zone, "read")]
    shown = [{"bank_id": zone, "name": zone, "disposition": _EVEN} for zone in named]
    return {"banks": shown, "total": len(shown), "limit": len(shown), "offset": 0}


@put("/{bank:str}", opt=_WRITE)
async def create_bank(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Return the bank; it comes into being with what is retained first."""
    await ask(request, bank, lambda held: held.name)
    return _bank(bank)


@get("/{bank:str}/profile", opt=_READ)
async def profile(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Return the bank, which has no mission and no disposition of its own here."""
    await ask(request, bank, lambda held: held.name)
    return _bank(bank)


@post("/{bank:str}/memories", status_code=200, opt=_WRITE)
async def retain(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[RetainBody]
) -> dict[str, Any]:
    """Retain contents; unless it is to be in the background, until they are decided."""
    mark = principal_in(request).mark(bank)
    items: list[dict[str, Any]] = [msgspec.structs.asdict(item) for item in data.items]
    done: Retained = await write(
        request,
        bank,
        lambda held: HindsightBank(held).retain(
            items,
            operation_id=data.operation_id,
            document_tags=data.document_tags or (),
            principal=mark,
        ),
        makes=True,
    )
    later = bool(data.in_background) or not await decided_in_time(request, bank, done.token)
    return {
        "success": True,
        "bank_id": bank,
        "items_count": len(data.items),
        "async": later,
        "operation_id": done.operation_id,
        "operation_ids": [done.operation_id],
        "usage": None,
    }


@post("/{bank:str}/memories/recall", status_code=200, opt=_READ)
async def recall(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[RecallBody]
) -> dict[str, Any]:
    """Return memories that answer a question, whose texts take `max_tokens` at most."""
    _no_groups(data.tag_groups)
    scores, window = data.min_scores or ScoresBody(), data.temporal_window
    if (scores.semantic, scores.keyword, scores.reranker) != (None, None, None):
        raise InvalidInput("min_scores: only final is known here, 0 to 1")
    found = await ask(
        request,
        bank,
        lambda held: HindsightBank(held).recall(
            data.query,
            types=data.types,
            budget=data.budget or "mid",
            max_tokens=data.max_tokens or 4_096,
            asked_at=data.query_timestamp,
            tags=data.tags,
            tags_match=data.tags_match or "any",
            min_score=scores.final or 0.0,
            after=None if window is None else moment(window.start),
            before=None if window is None else moment(window.end),
        ),
    )
    nothing = dict.fromkeys(("trace", "entities", "chunks", "source_facts"))
    return {"results": found, **nothing}


@post("/{bank:str}/reflect", status_code=200, opt=_READ)
async def reflect(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ReflectBody]
) -> dict[str, Any]:
    """Return what all kinds of memory say on a question, as one report; no model is asked."""
    _no_groups(data.tag_groups)
    for name in ("tags", "response_schema", "fact_types"):
        if getattr(data, name):
            raise InvalidInput(f"{name}: a report here is of the whole bank, and in Markdown")
    text, cited = await ask(
        request,
        bank,
        lambda held: HindsightBank(held).reflect(
            data.query, budget=data.budget or "low", max_tokens=data.max_tokens or 4_096
        ),
    )
    asked = data.include is not None and data.include.get("facts") is not None
    return {"text": text, "based_on": _based_on(cited) if asked else None}


@get("/{bank:str}/memories/list", opt=_READ)
async def list_units(
    request: AnyRequest,
    bank: FromPath[str],
    type_: Annotated[str | None, QueryParameter(name="type")] = None,
    q: FromQuery[str | None] = None,
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return facts and observations, each the newest first."""
    _check_page(limit, offset)
    items, total = await ask(
        request,
        bank,
        lambda held: HindsightBank(held).listed(type_, q, offset=offset, limit=limit),
    )
    return {"items": items, "total": total, "limit": limit, "offset": offset}


@get("/{bank:str}/memories/{memory_id:str}", opt=_READ)
async def get_unit(
    request: AnyRequest, bank: FromPath[str], memory_id: FromPath[str]
) -> dict[str, Any]:
    """Return a memory."""
    return await read(request, bank, lambda held: unit(held, memory_id))


@get("/{bank:str}/entities", opt=_READ)
async def entities(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return whom and what the bank knows, the most mentioned first."""
    _check_page(limit, offset)

    def found(held: Zone) -> tuple[list[Entity], int]:
        if not held.exists():
            return [], 0
        known = list(paginate(held.entities, limit=offset + limit))
        return known[offset:], held.status().entities

    shown, total = await ask(request, bank, found)
    items = [_entity(entity) for entity in shown]
    return {"items": items, "total": total, "limit": limit, "offset": offset}


@get("/{bank:str}/entities/{entity_id:str}", opt=_READ)
async def get_entity(
    request: AnyRequest, bank: FromPath[str], entity_id: FromPath[str]
) -> dict[str, Any]:
    """Return one of them."""
    found = await read(request, bank, lambda held: held.get_entity(entity_id))
    return {**_entity(found), "observations": []}


@get("/{bank:str}/mental-models", opt=_READ)
async def mental_models(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the reports that are kept."""
    _check_page(limit, offset)
    found = await ask(request, bank, lambda held: list(paginate(held.mental_models)))
    items = [_model(bank, model) for model in found[offset : offset + limit]]
    return {"items": items, "total": len(found), "limit": limit, "offset": offset}


@post("/{bank:str}/mental-models", status_code=200, opt=_WRITE)
async def create_model(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ModelBody]
) -> dict[str, Any]:
    """Reflect on a question and keep the report. That needs the right to read as well."""
    if not principal_in(request).may(bank, "read"):
        raise nothing_here()
    done = await write(
        request, bank, lambda held: held.reflect(data.source_query, save_as=data.name)
    )
    return {"mental_model_id": done.saved_as, "operation_id": done.saved_as}


@get("/{bank:str}/mental-models/{model_id:str}", opt=_READ)
async def get_model(
    request: AnyRequest, bank: FromPath[str], model_id: FromPath[str]
) -> dict[str, Any]:
    """Return a report that is kept."""
    return _model(bank, await read(request, bank, lambda held: held.mental_model(model_id)))


@delete("/{bank:str}/mental-models/{model_id:str}", status_code=200, opt=_FORGET)
async def delete_model(
    request: AnyRequest, bank: FromPath[str], model_id: FromPath[str]
) -> dict[str, Any]:
    """Erase a report with all its versions."""
    done = await write(request, bank, lambda held: held.delete_mental_model(model_id))
    erased_in(request, bank)
    return {"success": True, "message": "deleted", "deleted_count": done.events}


@get("/{bank:str}/operations", opt=_READ)
async def operations(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 20,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return what was retained, the newest first, and whether it is decided."""
    _check_page(limit, offset)
    found = await ask(request, bank, lambda held: HindsightBank(held).operations())
    return {
        "bank_id": bank,
        "total": len(found),
        "limit": limit,
        "offset": offset,
        "operations": found[offset : offset + limit],
    }


@get("/{bank:str}/operations/{operation_id:str}", opt=_READ)
async def get_operation(
    request: AnyRequest, bank: FromPath[str], operation_id: FromPath[str]
) -> dict[str, Any]:
    """Return one of them; what a mental model was made by is done when it is there."""

    def found(held: Zone) -> dict[str, Any]:
        every = paginate(held.mental_models, superseded=True)
        if any(model.id == operation_id for model in every):
            return {
                "operation_id": operation_id,
                "operation_type": "refresh_mental_model",
                "status": "completed",
            }
        return HindsightBank(held).operation(operation_id)

    return await read(request, bank, found)


@get("/{bank:str}/stats", opt=_READ)
async def stats(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Return how much the bank holds; there are no links here."""
    found: Status = await ask(request, bank, lambda held: held.status())
    return {
        "bank_id": bank,
        "total_nodes": found.facts + found.observations,
        "total_links": 0,
        "total_documents": found.events,
        "nodes_by_fact_type": {"world": found.facts, "observation": found.observations},
        "links_by_link_type": {},
        "links_by_fact_type": {},
        "links_breakdown": {},
        "pending_operations": 0,
        "failed_operations": found.dead_letters,
        "total_observations": found.observations,
    }


def _bank(bank: str) -> dict[str, Any]:
    return {"bank_id": bank, "name": bank, "disposition": _EVEN, "mission": "", "background": None}


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "canonical_name": entity.name,
        "mention_count": entity.mentions,
        "metadata": {"type": entity.type, "aliases": entity.aliases},
    }


def _model(bank: str, model: MentalModel) -> dict[str, Any]:
    return {
        "id": model.id,
        "bank_id": bank,
        "name": model.name,
        "content": model.description,
        "tags": model.tags,
        "last_refreshed_at": model.updated_at,
    }


def _based_on(cited: list[Result]) -> dict[str, Any]:
    return {
        "memories": [
            {
                "id": result.id,
                "text": result.text,
                "type": "observation" if result.type == "observation" else "world",
                "mentioned_at": result.as_of,
            }
            for result in cited
            if result.type != "mental_model"
        ],
        "mental_models": [
            {"id": result.id, "text": result.text}
            for result in cited
            if result.type == "mental_model"
        ],
        "directives": [],
    }


def _no_groups(tag_groups: list[Any] | None) -> None:
    if tag_groups:
        raise InvalidInput("tag_groups: give tags and tags_match")


def _check_page(limit: int, offset: int) -> None:
    if not 1 <= limit <= _MAX_BATCH_SIZE or offset < 0:
        raise InvalidInput(f"limit: 1 to {_MAX_BATCH_SIZE}; offset: 0 or more")


_BANKS = "/v1/default/banks"
ROUTER = Router(
    _BANKS,
    route_handlers=[
        *(banks, create_bank, profile, retain, recall, reflect, list_units, get_unit, entities),
        *(get_entity, mental_models, create_model, get_model, delete_model, operations),
        *(get_operation, stats, *hindsight_upkeep_routes.ROUTES),
    ],
    guards=[must_be_somebody],
    dto=JsonBody,
    return_dto=None,
    include_in_schema=False,
)
ROUTERS = (ROUTER, unserved(f"{_BANKS}/{{bank:str}}", _UNSERVED))
