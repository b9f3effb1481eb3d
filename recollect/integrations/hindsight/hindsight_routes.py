"""The paths of Hindsight, so that its client works when it is pointed here: a bank is a zone.

They are no part of the OpenAPI document: their shapes are Hindsight's. docs/clients.md lists them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar import HttpMethod, Router, delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Meta

from recollect import Entity, InvalidInput, MentalModel, Result, Zone, paginate
from recollect.integrations.facade_kit import moment
from recollect.integrations.hindsight import (
    hindsight_bank_routes,
    hindsight_profile,
    hindsight_upkeep_routes,
)
from recollect.integrations.hindsight.hindsight_bank import (
    Budget,
    HindsightBank,
    Listing,
    Retained,
)
from recollect.integrations.hindsight.hindsight_bank_routes import check_page
from recollect.integrations.hindsight.hindsight_tags import TagsMatch, tag_filter
from recollect.integrations.unserved import unserved, unserved_handler
from recollect.service import (
    NOT_SERVED,
    AnyRequest,
    JsonBody,
    Refused,
    ask,
    decided_in_time,
    drop_cached_answers,
    not_found,
    principal_in,
    read,
    require_principal,
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
    *("/document-transfer/export", "/directives", "/directives/{id:str}", "/webhooks"),
    *("/webhooks/{id:str}", "/webhooks/{id:str}/deliveries", "/audit-logs", "/audit-logs/stats"),
    *("/audit-logs/{id:str}", "/llm-requests", "/llm-requests/stats", "/graph", "/observations"),
    *("/observations/scopes", "/attachments/{id:str}", "/stats/memories-timeseries"),
    *("/memories/dry-run-extract", "/memories/{memory_id:str}/observations"),
    *("/memories/{memory_id:str}/history", "/entities/{entity_id:str}/regenerate"),
    "/entities/graph",
    *("/documents/{document_id:str}/history", "/documents/{document_id:str}/chunks"),
    *("/documents/{document_id:str}/reprocess", "/mental-models/{model_id:str}/clear"),
    *("/mental-models/{model_id:str}/dry-run-refresh", "/mental-models/{model_id:str}/refresh"),
    *("/mental-models/{model_id:str}/history", "/operations/{operation_id:str}/retry"),
    *("/operations/{operation_id:str}/delete", "/knowledge-base/folders", "/knowledge-base/pages"),
    *("/knowledge-base/pages/{id:str}", "/knowledge-base/nodes/{id:str}", "/knowledge-base/tree"),
    *("/knowledge-base/export", "/knowledge-base/search"),
)
_UNSERVED_ELSEWHERE = (
    *("/bank-template-schema", "/default/chunks/{id:str}", "/default/files/download/{id:path}"),
)
# Of what is served, the methods that are not.
_UNSERVED_METHODS = {
    HttpMethod.DELETE: ("/{bank:str}/config", "/{bank:str}/operations/{operation_id:str}"),
    HttpMethod.PATCH: ("/{bank:str}/documents/{document_id:str}",),
}
# What a report cannot be asked for.
_UNSERVED_OPTIONS = (
    *("response_schema", "fact_types", "exclude_mental_models", "exclude_mental_model_ids"),
)

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

    def bounds(self) -> tuple[int, int]:
        """Return both ends in unix milliseconds."""
        return moment(self.start, "temporal_window"), moment(self.end, "temporal_window")


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
    tags_match: TagsMatch | None = None
    tag_groups: list[Any] | None = None
    fact_types: list[str] | None = None
    exclude_mental_models: bool | None = None
    exclude_mental_model_ids: list[str] | None = None


class ModelBody(msgspec.Struct, frozen=True, kw_only=True):
    """What `create_mental_model` sends."""

    name: str
    source_query: str


@post("/{bank:str}/memories", status_code=200, opt=_WRITE)
async def retain(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[RetainBody]
) -> dict[str, Any]:
    """Retain contents; unless it is to be in the background, until they are decided."""
    mark = principal_in(request).metadata(bank)
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
        allow_empty=True,
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
    fits = tag_filter(data.tags, data.tags_match or "any", data.tag_groups)
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
            fits=fits,
            min_score=scores.final or 0.0,
            window=None if window is None else window.bounds(),
        ),
    )
    nothing = dict.fromkeys(("trace", "entities", "chunks", "source_facts"))
    return {"results": found, **nothing}


@post("/{bank:str}/reflect", status_code=200, opt=_READ)
async def reflect(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ReflectBody]
) -> dict[str, Any]:
    """Return what all kinds of memory say on a question, as one report; no model is asked."""
    fits = tag_filter(data.tags, data.tags_match or "any", data.tag_groups)
    for name in _UNSERVED_OPTIONS:
        if getattr(data, name):
            raise Refused(
                NOT_SERVED, f"{name}: a report here is Markdown, of all kinds of memory together"
            )
    text, cited = await ask(
        request,
        bank,
        lambda held: HindsightBank(held).reflect(
            data.query,
            budget=data.budget or "low",
            max_tokens=data.max_tokens or 4_096,
            fits=fits,
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
    tags: FromQuery[list[str] | None] = None,
    tags_match: FromQuery[TagsMatch] = "any",
    document_id: FromQuery[str | None] = None,
    entity_id: FromQuery[str | None] = None,
    state_: Annotated[Literal["valid", "invalidated"] | None, QueryParameter(name="state")] = None,
    time_field: FromQuery[str | None] = None,
    start_date: FromQuery[str | None] = None,
    end_date: FromQuery[str | None] = None,
    consolidation_state: FromQuery[str | None] = None,
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return facts and observations, each the newest first."""
    check_page(limit, offset)
    if consolidation_state is not None:
        raise Refused(NOT_SERVED, "consolidation_state: it is kept of no memory here")
    wanted = Listing(
        type=type_,
        containing=q,
        document_id=document_id,
        entity_id=entity_id,
        invalidated=state_ == "invalidated",
        fits=tag_filter(tags, tags_match),
        time_field=time_field,
        since=None if start_date is None else moment(start_date, "start_date"),
        until=None if end_date is None else moment(end_date, "end_date"),
    )
    items, total = await ask(
        request, bank, lambda held: HindsightBank(held).listed(wanted, offset=offset, limit=limit)
    )
    return {"items": items, "total": total, "limit": limit, "offset": offset}


@get("/{bank:str}/tags", opt=_READ)
async def list_tags(
    request: AnyRequest,
    bank: FromPath[str],
    q: FromQuery[str | None] = None,
    source: FromQuery[Literal["memories", "mental_models"]] = "memories",
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the tags of what was retained, the most frequent first."""
    check_page(limit, offset)
    if source != "memories":
        raise Refused(NOT_SERVED, "source: mental models get no tags through this interface")
    found = await ask(request, bank, lambda held: HindsightBank(held).tags(q))
    items = [{"tag": tag, "count": count} for tag, count in found[offset : offset + limit]]
    return {"items": items, "total": len(found), "limit": limit, "offset": offset}


@get("/{bank:str}/memories/{memory_id:str}", opt=_READ)
async def get_unit(
    request: AnyRequest, bank: FromPath[str], memory_id: FromPath[str]
) -> dict[str, Any]:
    """Return a memory."""
    return await read(request, bank, lambda held: HindsightBank(held).unit(memory_id))


@get("/{bank:str}/entities", opt=_READ)
async def entities(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return whom and what the bank knows, the most mentioned first."""
    check_page(limit, offset)

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
    check_page(limit, offset)
    found = await ask(request, bank, lambda held: list(paginate(held.mental_models)))
    items = [_model(bank, model) for model in found[offset : offset + limit]]
    return {"items": items, "total": len(found), "limit": limit, "offset": offset}


@post("/{bank:str}/mental-models", status_code=200, opt=_WRITE)
async def create_model(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ModelBody]
) -> dict[str, Any]:
    """Reflect on a question and keep the report. That needs the right to read as well."""
    if not principal_in(request).has_right(bank, "read"):
        raise not_found()
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
    drop_cached_answers(request, bank)
    return {"success": True, "message": "deleted", "deleted_count": done.events}


@get("/{bank:str}/operations", opt=_READ)
async def operations(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 20,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return what was retained, the newest first, and whether it is decided."""
    check_page(limit, offset)
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
    found, of_bank = await ask(
        request, bank, lambda held: (held.status(), len(hindsight_profile.versions(held)))
    )
    return {
        "bank_id": bank,
        "total_nodes": found.facts + found.observations,
        "total_links": 0,
        "total_documents": found.events - of_bank,
        "nodes_by_fact_type": {"world": found.facts, "observation": found.observations},
        "links_by_link_type": {},
        "links_by_fact_type": {},
        "links_breakdown": {},
        "pending_operations": 0,
        "failed_operations": found.dead_letters,
        "total_observations": found.observations,
    }


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


_BANKS = "/v1/default/banks"
ROUTER = Router(
    _BANKS,
    route_handlers=[
        *(retain, recall, reflect, list_units, list_tags, get_unit, entities, get_entity),
        *(mental_models, create_model, get_model, delete_model, operations, get_operation, stats),
        *hindsight_bank_routes.ROUTES,
        *hindsight_upkeep_routes.ROUTES,
        *(unserved_handler(paths, [method]) for method, paths in _UNSERVED_METHODS.items()),
    ],
    guards=[require_principal],
    dto=JsonBody,
    return_dto=None,
    include_in_schema=False,
)
ROUTERS = (
    ROUTER,
    hindsight_bank_routes.HEALTH,
    unserved(f"{_BANKS}/{{bank:str}}", _UNSERVED),
    unserved("/v1", _UNSERVED_ELSEWHERE),
)
