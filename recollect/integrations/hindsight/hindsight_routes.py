"""Hindsight's endpoints, for its unmodified client; a bank is a zone.

The OpenAPI document leaves them out, since Hindsight defines their shapes. docs/clients.md lists
them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar import HttpMethod, Router, delete, get, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter
from msgspec import Meta

from recollect import Entity, InvalidInput, Result, Zone, paginate
from recollect.integrations.facade_kit import to_unix_ms
from recollect.integrations.hindsight import (
    hindsight_bank_routes,
    hindsight_profile,
    hindsight_upkeep_routes,
)
from recollect.integrations.hindsight.hindsight_bank import (
    Budget,
    HindsightBank,
    ListFilters,
    Retained,
)
from recollect.integrations.hindsight.hindsight_bank_routes import check_page
from recollect.integrations.hindsight.hindsight_models import (
    find_model,
    in_hindsight_form,
    list_models,
)
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
#: The paths below a bank that Hindsight's client calls and that are not supported.
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
# Unsupported methods of supported paths.
_UNSERVED_METHODS = {
    HttpMethod.DELETE: ("/{bank:str}/config", "/{bank:str}/operations/{operation_id:str}"),
    HttpMethod.PATCH: ("/{bank:str}/documents/{document_id:str}",),
}
# The unsupported options of `reflect`.
_UNSERVED_OPTIONS = (
    *("response_schema", "fact_types", "exclude_mental_models", "exclude_mental_model_ids"),
)

Tokens = Annotated[int, Meta(ge=1, le=_MAX_TOKENS)]


class ItemBody(msgspec.Struct, frozen=True, kw_only=True):
    """An item to retain."""

    content: Any
    timestamp: str | int | None = None
    context: str | None = None
    metadata: dict[str, Any] | None = None
    document_id: str | None = None
    tags: list[str] | None = None
    update_mode: Literal["replace", "append"] | None = None


class RetainBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `retain` and `retain_batch`."""

    items: Annotated[list[ItemBody], Meta(min_length=1, max_length=_MAX_BATCH_SIZE)]
    in_background: bool | None = msgspec.field(default=False, name="async")
    document_tags: list[str] | None = None
    operation_id: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


class WindowBody(msgspec.Struct, frozen=True, kw_only=True):
    """A time range; both ends are inclusive."""

    start: str
    end: str

    def bounds(self) -> tuple[int, int]:
        """Return both ends in unix milliseconds."""
        return to_unix_ms(self.start, "temporal_window"), to_unix_ms(self.end, "temporal_window")


class ScoresBody(msgspec.Struct, frozen=True, kw_only=True):
    """The minimum scores of a result; only `final` is supported."""

    final: float | None = None
    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None


class RecallBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of `recall`."""

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
    """The body of `reflect`."""

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
    """The body of `create_mental_model`."""

    name: str
    source_query: str


@post("/{bank:str}/memories", status_code=200, opt=_WRITE)
async def retain(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[RetainBody]
) -> dict[str, Any]:
    """Retain items; wait until they are decided, unless `async` is set."""
    mark = principal_in(request).metadata(bank)
    items: list[dict[str, Any]] = [msgspec.structs.asdict(item) for item in data.items]
    done: Retained = await write(
        request,
        bank,
        lambda zone: HindsightBank(zone).retain(
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
    """Return the memories that answer a question, within `max_tokens`."""
    matches = tag_filter(data.tags, data.tags_match or "any", data.tag_groups)
    scores, window = data.min_scores or ScoresBody(), data.temporal_window
    if (scores.semantic, scores.keyword, scores.reranker) != (None, None, None):
        raise InvalidInput("min_scores: only `final` is supported, with a value from 0 to 1")
    results = await ask(
        request,
        bank,
        lambda zone: HindsightBank(zone).recall(
            data.query,
            types=data.types,
            budget=data.budget or "mid",
            max_tokens=data.max_tokens or 4_096,
            asked_at=data.query_timestamp,
            matches=matches,
            min_score=scores.final or 0.0,
            window=None if window is None else window.bounds(),
        ),
    )
    nothing = dict.fromkeys(("trace", "entities", "chunks", "source_facts"))
    return {"results": results, **nothing}


@post("/{bank:str}/reflect", status_code=200, opt=_READ)
async def reflect(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ReflectBody]
) -> dict[str, Any]:
    """Return a report on a question from all kinds of memory; no language model is called."""
    matches = tag_filter(data.tags, data.tags_match or "any", data.tag_groups)
    for name in _UNSERVED_OPTIONS:
        if getattr(data, name):
            raise Refused(
                NOT_SERVED,
                f"{name}: not supported; a report is Markdown and draws on all kinds of memory",
            )
    text, cited = await ask(
        request,
        bank,
        lambda zone: HindsightBank(zone).reflect(
            data.query,
            budget=data.budget or "low",
            max_tokens=data.max_tokens or 4_096,
            matches=matches,
        ),
    )
    wants_facts = data.include is not None and data.include.get("facts") is not None
    return {"text": text, "based_on": _based_on(cited) if wants_facts else None}


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
    """Return facts, then observations, both newest first."""
    check_page(limit, offset)
    if consolidation_state is not None:
        raise Refused(NOT_SERVED, "consolidation_state: recollect does not store it")
    filters = ListFilters(
        type=type_,
        containing=q,
        document_id=document_id,
        entity_id=entity_id,
        invalidated=state_ == "invalidated",
        matches=tag_filter(tags, tags_match),
        time_field=time_field,
        since=None if start_date is None else to_unix_ms(start_date, "start_date"),
        until=None if end_date is None else to_unix_ms(end_date, "end_date"),
    )
    items, total = await ask(
        request,
        bank,
        lambda zone: HindsightBank(zone).list_units(filters, offset=offset, limit=limit),
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
    """Return the tags of memories, the most frequent first."""
    check_page(limit, offset)
    if source != "memories":
        raise Refused(
            NOT_SERVED, "source: mental models created through this interface have no tags"
        )
    tags = await ask(request, bank, lambda zone: HindsightBank(zone).tags(q))
    items = [{"tag": tag, "count": count} for tag, count in tags[offset : offset + limit]]
    return {"items": items, "total": len(tags), "limit": limit, "offset": offset}


@get("/{bank:str}/memories/{memory_id:str}", opt=_READ)
async def get_unit(
    request: AnyRequest, bank: FromPath[str], memory_id: FromPath[str]
) -> dict[str, Any]:
    """Return a memory."""
    return await read(request, bank, lambda zone: HindsightBank(zone).get_unit(memory_id))


@get("/{bank:str}/entities", opt=_READ)
async def entities(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the entities, the most mentioned first."""
    check_page(limit, offset)

    def found(zone: Zone) -> tuple[list[Entity], int]:
        if not zone.exists():
            return [], 0
        known = list(paginate(zone.entities, limit=offset + limit))
        return known[offset:], zone.status().entities

    page, total = await ask(request, bank, found)
    items = [_entity(entity) for entity in page]
    return {"items": items, "total": total, "limit": limit, "offset": offset}


@get("/{bank:str}/entities/{entity_id:str}", opt=_READ)
async def get_entity(
    request: AnyRequest, bank: FromPath[str], entity_id: FromPath[str]
) -> dict[str, Any]:
    """Return an entity."""
    found = await read(request, bank, lambda zone: zone.get_entity(entity_id))
    return {**_entity(found), "observations": []}


@get("/{bank:str}/mental-models", opt=_READ)
async def mental_models(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 100,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the stored reports."""
    check_page(limit, offset)
    models = await ask(request, bank, list_models)
    items = [in_hindsight_form(bank, model) for model in models[offset : offset + limit]]
    return {"items": items, "total": len(models), "limit": limit, "offset": offset}


@post("/{bank:str}/mental-models", status_code=200, opt=_WRITE)
async def create_model(
    request: AnyRequest, bank: FromPath[str], data: JSONBody[ModelBody]
) -> dict[str, Any]:
    """Reflect on a question and store the report. This needs the right `read` as well."""
    if not principal_in(request).has_right(bank, "read"):
        raise not_found()
    done = await write(
        request, bank, lambda zone: zone.reflect(data.source_query, save_as=data.name)
    )
    return {"mental_model_id": done.saved_as, "operation_id": done.saved_as}


@get("/{bank:str}/mental-models/{model_id:str}", opt=_READ)
async def get_model(
    request: AnyRequest, bank: FromPath[str], model_id: FromPath[str]
) -> dict[str, Any]:
    """Return a stored report."""
    versions = await read(request, bank, lambda zone: find_model(zone, model_id))
    return in_hindsight_form(bank, versions)


@delete("/{bank:str}/mental-models/{model_id:str}", status_code=200, opt=_FORGET)
async def delete_model(
    request: AnyRequest, bank: FromPath[str], model_id: FromPath[str]
) -> dict[str, Any]:
    """Erase a report with all its versions."""
    done = await write(request, bank, lambda zone: zone.delete_mental_model(model_id))
    drop_cached_answers(request, bank)
    return {"success": True, "message": "deleted", "deleted_count": done.events}


@get("/{bank:str}/operations", opt=_READ)
async def operations(
    request: AnyRequest,
    bank: FromPath[str],
    limit: FromQuery[int] = 20,
    offset: FromQuery[int] = 0,
) -> dict[str, Any]:
    """Return the retain operations, newest first, with their status."""
    check_page(limit, offset)
    retained = await ask(request, bank, lambda zone: HindsightBank(zone).operations())
    return {
        "bank_id": bank,
        "total": len(retained),
        "limit": limit,
        "offset": offset,
        "operations": retained[offset : offset + limit],
    }


@get("/{bank:str}/operations/{operation_id:str}", opt=_READ)
async def get_operation(
    request: AnyRequest, bank: FromPath[str], operation_id: FromPath[str]
) -> dict[str, Any]:
    """Return an operation; operations that stored a mental model are always completed."""

    def found(zone: Zone) -> dict[str, Any]:
        every = paginate(zone.mental_models, superseded=True)
        if any(model.id == operation_id for model in every):
            return {
                "operation_id": operation_id,
                "operation_type": "refresh_mental_model",
                "status": "completed",
            }
        return HindsightBank(zone).operation(operation_id)

    return await read(request, bank, found)


@get("/{bank:str}/stats", opt=_READ)
async def stats(request: AnyRequest, bank: FromPath[str]) -> dict[str, Any]:
    """Return the counts of a bank; the number of links is always 0."""
    status, bank_events = await ask(
        request, bank, lambda zone: (zone.status(), len(hindsight_profile.versions(zone)))
    )
    return {
        "bank_id": bank,
        "total_nodes": status.facts + status.observations,
        "total_links": 0,
        "total_documents": status.events - bank_events,
        "nodes_by_fact_type": {"world": status.facts, "observation": status.observations},
        "links_by_link_type": {},
        "links_by_fact_type": {},
        "links_breakdown": {},
        "pending_operations": 0,
        "failed_operations": status.dead_letters,
        "total_observations": status.observations,
    }


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "id": entity.id,
        "canonical_name": entity.name,
        "mention_count": entity.mentions,
        "metadata": {"type": entity.type, "aliases": entity.aliases},
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
