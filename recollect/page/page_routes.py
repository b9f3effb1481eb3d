"""The routes of the page: static files under a strict content policy, and nothing else.

Everything that the page shows, it asks of the service over HTTP, with the token of its reader.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, NamedTuple

from litestar import Request, Response, Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

#: Headers of every file. Scripts and styles come from the page's own files only; neither a script
#: nor a style in the document runs, and texts cannot become markup (trusted types).
HEADERS = {
    "content-security-policy": "; ".join(
        (
            "default-src 'self'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    ),
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "vary": "accept-encoding",
}
_TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "json": "application/json",
    "mjs": "text/javascript",
    "svg": "image/svg+xml",
    "LICENSE": "text/plain",
}
_INDEX = "index.html"
# In the document, the place of the links that load all modules at once.
_PRELOADS = b"<!-- modules -->"


class PageFile(NamedTuple):
    """A file of the page, as it is and compressed."""

    content: bytes
    compressed: bytes
    media_type: str


@cache
def page_files() -> dict[str, PageFile]:
    """Return the files of the page by their paths below `/page/`."""
    contents = dict(_contents(files("recollect.page") / "static", ""))
    modules = sorted(name for name in contents if name.endswith((".js", ".mjs")))
    links = "\n".join(f'<link rel="modulepreload" href="/page/{name}">' for name in modules)
    contents[_INDEX] = contents[_INDEX].replace(_PRELOADS, links.encode())
    return {
        name: PageFile(content, gzip.compress(content, 9, mtime=0), _type(name))
        for name, content in contents.items()
    }


def _contents(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _contents(item, f"{prefix}{item.name}/")
        else:
            yield f"{prefix}{item.name}", item.read_bytes()


def _type(name: str) -> str:
    return _TYPES[name.rpartition(".")[2]]


@get("/", include_in_schema=False)
async def index(request: Request[Any, Any, Any]) -> Response[bytes]:
    """Return the document of the page."""
    return _response(request, page_files()[_INDEX])


@get("/page/{path:path}", include_in_schema=False)
async def asset(request: Request[Any, Any, Any], path: FromPath[str]) -> Response[bytes]:
    """Return a file of the page."""
    found = page_files().get(path.lstrip("/"))
    if found is None:
        raise NotFoundException
    return _response(request, found)


def _response(request: Request[Any, Any, Any], file: PageFile) -> Response[bytes]:
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(file.content, media_type=file.media_type, headers=HEADERS)
    headers = {**HEADERS, "content-encoding": "gzip"}
    return Response(file.compressed, media_type=file.media_type, headers=headers)


def router() -> Router:
    """Return the routes of the page."""
    return Router("/", route_handlers=[index, asset])
