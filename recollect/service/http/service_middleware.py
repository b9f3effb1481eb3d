"""Middleware for every request: request id, origin check, authentication, limits and log."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from recollect.home.memory_spans import continue_trace
from recollect.service.http.id_paths import protect_slashes
from recollect.service.http.json_bodies import is_ndjson
from recollect.service.http.problem_details import (
    FORBIDDEN_ORIGIN,
    MEDIA_TYPE,
    TIMED_OUT,
    Refused,
    to_problem,
)
from recollect.service.principals import Principal
from recollect.service.query_service import QueryService

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# The minimum rate at which a body must arrive.
_MIN_BYTES_PER_SECOND = 1_000
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"})
#: The keys of a request's id and principal in its scope.
REQUEST_ID, PRINCIPAL = "recollect.request_id", "recollect.principal"


def principal_of(scope: Scope) -> Principal | None:
    """Return the principal of a request; None if it has no valid token."""
    found: Principal | None = scope.get(PRINCIPAL)  # type: ignore[assignment]
    return found


def request_id_of(scope: Scope) -> str:
    """Return the id of a request; its response and the log contain this id."""
    return str(scope.get(REQUEST_ID, ""))


class ServiceMiddleware:
    """Middleware in front of the application and of everything mounted into it."""

    def __init__(self, app: ASGIApp, service: QueryService) -> None:
        self._app = app
        self._service = service
        self._metrics = service.metrics
        self._log = service.log
        self._hosts = _hosts(service)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == ScopeType.HTTP:
            await self._answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        # The server logs its own scope, which must keep the path as it was sent.
        scope = scope.copy()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope[REQUEST_ID] = request_id  # type: ignore[literal-required]
        response = _Response(send, request_id)
        started = time.perf_counter()
        self._metrics.open.inc()
        try:
            self._admit(scope, headers)
            protect_slashes(scope)
            by_line = is_ndjson(headers.get(b"content-type", b"").decode("latin-1"))
            body = _TimedBody(receive, self._service.settings.request_seconds, by_line=by_line)
            with continue_trace(headers):
                await self._app(scope, body, response)
        except Exception as error:
            if response.status == 0:
                await response.send_problem(error)
            if not isinstance(error, Refused):
                self._log.error("request failed", error, request_id=request_id)
        finally:
            self._metrics.open.dec()
            seconds = time.perf_counter() - started
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = str(scope.get("path_template") or "none")
            status = response.status or 499
            self._metrics.count_request(route, method, status, seconds)
            principal = principal_of(scope)
            self._log.request(
                request_id=request_id,
                method=method,
                route=route,
                status=status,
                ms=seconds * 1_000,
                who="nobody" if principal is None else principal.name,
            )

    def _admit(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        self._check_host(headers)
        principal = self._service.principal(headers.get(b"authorization"))
        scope[PRINCIPAL] = principal  # type: ignore[literal-required]
        peer = scope.get("client")
        self._service.check_rate(
            principal.name if principal else f"from {peer[0] if peer else 'somewhere'}"
        )
        if principal is None and b"authorization" in headers:
            self._metrics.invalid_tokens.inc()

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Reject cross-site requests of browsers, and DNS rebinding.

        Raises:
            Refused: the host or the origin is not allowed.
        """
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._hosts is not None and _name(host) not in self._hosts:
            raise Refused(
                FORBIDDEN_ORIGIN,
                "the service does not accept this host name; see the setting service.hosts",
            )
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if not origin or origin in self._service.settings.origins:
            return
        try:
            is_same_origin = urlsplit(origin).netloc == host
        except ValueError:
            is_same_origin = False
        if not is_same_origin:
            raise Refused(FORBIDDEN_ORIGIN, "pages of this origin may not call this service")


def _hosts(service: QueryService) -> frozenset[str] | None:
    """Return the host names that requests may use; None for any."""
    settings = service.settings
    if settings.hosts:
        return frozenset({*map(str.lower, settings.hosts), *_LOOPBACK})
    if settings.on_loopback:
        return frozenset({settings.host.strip("[]").lower(), *_LOOPBACK})
    return None


_LOOPBACK: Iterable[str] = ("localhost", "127.0.0.1", "::1")


def _name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] or host


class _Response:
    """Sends a response with the request's id, or a problem if nothing has been sent yet."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *message["headers"],
                (b"x-request-id", self._request_id.encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
            ]
        await self._send(message)

    async def send_problem(self, error: Exception) -> None:
        problem = to_problem(error)
        body = msgspec.json.encode(problem.problem(self._request_id))
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            # The unread part of the body must not be parsed as the next request.
            (b"connection", b"close"),
            *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
        ]
        await self(
            {"type": "http.response.start", "status": problem.kind.status, "headers": headers}
        )
        await self({"type": "http.response.body", "body": body, "more_body": False})


class _TimedBody:
    """Receives a body, with a timeout for silent and for very slow clients.

    A body may take `seconds`, plus one second for each kilobyte received. If it is read line by
    line, that limit applies to each line.
    """

    def __init__(self, receive: Receive, seconds: float, *, by_line: bool) -> None:
        self._receive = receive
        self._seconds = seconds
        self._by_line = by_line
        self._complete = False
        self._received_bytes = 0
        self._waited = 0.0

    async def __call__(self) -> Any:
        if self._complete:
            # A further call waits for the client to disconnect.
            return await self._receive()
        # Only the time spent waiting for the client counts.
        started = time.monotonic()
        remaining = self._seconds + self._received_bytes / _MIN_BYTES_PER_SECOND - self._waited
        try:
            async with asyncio.timeout(min(self._seconds, remaining)):
                message: Any = await self._receive()
        except TimeoutError:
            detail = f"the client sent too little within {self._seconds:g} s"
            raise Refused(TIMED_OUT, detail, retry_after=1) from None
        self._complete = not message.get("more_body", False)
        body = message.get("body", b"")
        self._received_bytes += len(body)
        self._waited += time.monotonic() - started
        if self._by_line and b"\n" in body:
            self._received_bytes, self._waited = 0, 0.0
        return message
