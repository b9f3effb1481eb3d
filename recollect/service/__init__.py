"""The query service: one process that answers over HTTP for the zones of a home.

Routes of other packages are made of the names that are imported from here, and `create_app` takes
them as `beside`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.service.application import Application, create_app
    from recollect.service.json_bodies import JsonBody
    from recollect.service.problem_details import (
        INVALID,
        MALFORMED,
        NOT_SERVED,
        Refused,
        nothing_here,
    )
    from recollect.service.query_service import AnyRequest
    from recollect.service.route_kit import (
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
    "erased_in": "route_kit",
    "JsonBody": "json_bodies",
    "INVALID": "problem_details",
    "MALFORMED": "problem_details",
    "NOT_SERVED": "problem_details",
    "Refused": "problem_details",
    "nothing_here": "problem_details",
    "AnyRequest": "query_service",
    "ask": "route_kit",
    "decided_in_time": "route_kit",
    "must_be_somebody": "route_kit",
    "principal_in": "route_kit",
    "read": "route_kit",
    "service_of": "route_kit",
    "write": "route_kit",
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
