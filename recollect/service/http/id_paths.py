"""Ids in addresses: one that holds a slash stays one part of its path.

A server hands the path on decoded, where an escaped slash looks like any other. So a path with one
is decoded here once more, with a character in its place that no path can have, and the slash comes
back when the route is found.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from litestar import Request
from litestar.types import HTTPScope

# A lone surrogate: what is decoded as UTF-8 never has one.
_SLASH = "\udc2f"


def keep_together(scope: HTTPScope) -> None:
    """Have an escaped slash of a request's path not divide it."""
    raw = scope["raw_path"].partition(b"?")[0].decode("latin-1")
    if "%2f" in raw.lower():
        scope["path"] = "/".join(unquote(part).replace("/", _SLASH) for part in raw.split("/"))


async def put_back(request: Request[Any, Any, Any]) -> None:
    """Give the route the ids as they were sent."""
    if _SLASH in request.scope["path"]:
        request.scope["path"] = request.scope["path"].replace(_SLASH, "/")
        request.scope["path_params"] = {
            name: value.replace(_SLASH, "/") if isinstance(value, str) else value
            for name, value in request.scope["path_params"].items()
        }
