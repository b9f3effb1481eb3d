"""Ids with slashes in paths: an escaped slash does not split its path segment.

The server passes on a decoded path, in which an escaped slash looks like any other slash. So the
raw path is decoded here again, with a placeholder for each escaped slash. After routing, the
slashes are restored.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from litestar import Request
from litestar.types import HTTPScope

# A lone surrogate, which decoded UTF-8 never contains.
_PLACEHOLDER = "\udc2f"


def protect_slashes(scope: HTTPScope) -> None:
    """Replace the escaped slashes in a request's path by placeholders."""
    raw = scope["raw_path"].partition(b"?")[0].decode("latin-1")
    if "%2f" in raw.lower():
        scope["path"] = "/".join(
            unquote(segment).replace("/", _PLACEHOLDER) for segment in raw.split("/")
        )


async def restore_slashes(request: Request[Any, Any, Any]) -> None:
    """Replace the placeholders in a routed request's path and parameters by slashes."""
    if _PLACEHOLDER in request.scope["path"]:
        request.scope["path"] = request.scope["path"].replace(_PLACEHOLDER, "/")
        request.scope["path_params"] = {
            name: value.replace(_PLACEHOLDER, "/") if isinstance(value, str) else value
            for name, value in request.scope["path_params"].items()
        }
