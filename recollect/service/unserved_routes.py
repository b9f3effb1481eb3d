"""Paths that the clients of Mem0 and Hindsight know and that have no counterpart here.

They answer 501 and say so, where a client would take 404 for a memory that is not there.
"""

from __future__ import annotations

from litestar import HttpMethod, Router, route

from recollect.service.problem_details import NOT_SERVED, Refused
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import must_be_somebody

_BANK = "/v1/default/banks/{bank:str}"
_METHODS = [
    *(HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE),
]
_HINDSIGHT = (
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
_MEM0 = (
    *("/v1/exports", "/v1/exports/get", "/v1/summary", "/v1/feedback"),
    *("/v2/entities/{kind:str}/{name:str}/profile", "/v2/profiles"),
    *("/v2/profiles/{part:str}", "/v2/profiles/{part:str}/{id:str}"),
    "/api/v1/orgs/organizations/{org:str}/projects/{project:str}",
    *("/api/v1/webhooks/{id:str}", "/api/v1/webhooks/projects/{project:str}"),
)


@route(
    [*(f"{_BANK}{path}" for path in _HINDSIGHT), *_MEM0],
    http_method=_METHODS,
    status_code=200,
    opt={"right": "read"},
)
async def not_served(request: AnyRequest) -> None:
    """Say that there is no such thing."""
    raise Refused(
        NOT_SERVED,
        "recollect has nothing that does this; docs/clients.md lists the paths that it serves",
    )


ROUTER = Router(
    "/",
    route_handlers=[not_served],
    guards=[must_be_somebody],
    include_in_schema=False,
)
