"""The query service: one process that serves the zones of a home over HTTP.

Other packages build further routes from the names exported here, and pass them to `create_app`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.service.application import Application, create_app
    from recollect.service.http.json_bodies import JsonBody, malformed_parameter
    from recollect.service.http.problem_details import (
        INVALID,
        MALFORMED,
        NOT_SERVED,
        Refused,
        not_found,
    )
    from recollect.service.query_service import AnyRequest
    from recollect.service.routes.inference_routes import inferred, streamed
    from recollect.service.routes.openapi_document import RouteDescription
    from recollect.service.routes.route_kit import (
        ask,
        decided_in_time,
        drop_cached_answers,
        principal_in,
        read,
        require_principal,
        service_of,
        write,
    )

_MODULES = {
    "Application": "application",
    "create_app": "application",
    "drop_cached_answers": "routes.route_kit",
    "JsonBody": "http.json_bodies",
    "malformed_parameter": "http.json_bodies",
    "INVALID": "http.problem_details",
    "MALFORMED": "http.problem_details",
    "NOT_SERVED": "http.problem_details",
    "Refused": "http.problem_details",
    "not_found": "http.problem_details",
    "AnyRequest": "query_service",
    "RouteDescription": "routes.openapi_document",
    "inferred": "routes.inference_routes",
    "streamed": "routes.inference_routes",
    "ask": "routes.route_kit",
    "decided_in_time": "routes.route_kit",
    "require_principal": "routes.route_kit",
    "principal_in": "routes.route_kit",
    "read": "routes.route_kit",
    "service_of": "routes.route_kit",
    "write": "routes.route_kit",
}

__all__ = [
    "INVALID",
    "MALFORMED",
    "NOT_SERVED",
    "AnyRequest",
    "Application",
    "JsonBody",
    "Refused",
    "RouteDescription",
    "ask",
    "create_app",
    "decided_in_time",
    "drop_cached_answers",
    "inferred",
    "malformed_parameter",
    "not_found",
    "principal_in",
    "read",
    "require_principal",
    "service_of",
    "streamed",
    "write",
]


def __getattr__(name: str) -> object:
    # Modules are loaded on first use: the command line imports this package to find `serving`.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
