"""The query service: one process that answers over HTTP for the zones of a home.

Routes of other packages are made of the names that are imported from here, and `create_app` takes
them as `beside`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.service.application import Application, create_app
    from recollect.service.http.json_bodies import JsonBody
    from recollect.service.http.problem_details import (
        INVALID,
        MALFORMED,
        NOT_SERVED,
        Refused,
        nothing_here,
    )
    from recollect.service.query_service import AnyRequest
    from recollect.service.routes.route_kit import (
        ask,
        decided_in_time,
        erased_in,
        must_be_somebody,
        principal_in,
        read,
        service_of,
        write,
    )

_MODULES = {
    "Application": "application",
    "create_app": "application",
    "erased_in": "routes.route_kit",
    "JsonBody": "http.json_bodies",
    "INVALID": "http.problem_details",
    "MALFORMED": "http.problem_details",
    "NOT_SERVED": "http.problem_details",
    "Refused": "http.problem_details",
    "nothing_here": "http.problem_details",
    "AnyRequest": "query_service",
    "ask": "routes.route_kit",
    "decided_in_time": "routes.route_kit",
    "must_be_somebody": "routes.route_kit",
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
    "ask",
    "create_app",
    "decided_in_time",
    "erased_in",
    "must_be_somebody",
    "nothing_here",
    "principal_in",
    "read",
    "service_of",
    "write",
]


def __getattr__(name: str) -> object:
    # A part is loaded with its first use: none of them is needed to find another.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
