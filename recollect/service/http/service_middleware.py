"""Middleware for every request: request id, origin check, authentication, limits and log."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from typing import Any

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from recollect.home.memory_spans import continue_trace
from recollect.service.http.id_paths import protect_slashes
from recollect.service.http.json_bodies import is_ndjson
from recollect.service.http.origins import Headers, OriginPolicy
from recollect.service.http.problem_details import (
    MALFORMED,
    MEDIA_TYPE,
    TIMED_OUT,
    WRONG_MEDIA_TYPE,
    Refused,
    to_problem,
)
from recollect.service.principals import Principal
from recollect.service.query_service import QueryService

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# The minimum rate at which a body must arrive.
_MIN_BYTES_PER_SECOND = 1_000
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"})
# Health checks are not limited: what floods the service must not make it seem down.
_HEALTH = frozenset({"/health", "/health/live", "/health/ready"})
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
        self._origins = OriginPolicy(service.settings)

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
        method = scope["method"]
        if method == "HEAD":
            # HEAD is GET without the content.
            scope["method"] = "GET"
        response = _Response(
            send,
            request_id,
            headers=self._origins.response_headers(headers),
            without_content=method == "HEAD",
        )
        started = time.perf_counter()
        self._metrics.open.inc()
        try:
            self._admit(scope, headers)
            protect_slashes(scope)
            by_line = is_ndjson(headers.get(b"content-type", b"").decode("latin-1"))
            body = _TimedBody(
                receive,
                self._service.settings.request_seconds,
                expected=b"content-length" in headers or b"transfer-encoding" in headers,
                by_line=by_line,
            )
            preflight = self._origins.preflight_headers(method, headers)
            if preflight is not None:
                await response.send(204, preflight)
                return
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
            counted = method if method in _METHODS else "other"
            route = str(scope.get("path_template") or "none")
            status = response.status or 499
            self._metrics.count_request(route, counted, status, seconds)
            principal = principal_of(scope)
            self._log.request(
                request_id=request_id,
                method=counted,
                route=route,
                status=status,
                ms=seconds * 1_000,
                who="nobody" if principal is None else principal.name,
            )

    def _admit(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        self._origins.check(headers)
        _check_encoding(headers)
        principal = self._service.principal(headers.get(b"authorization"))
        scope[PRINCIPAL] = principal  # type: ignore[literal-required]
        if scope["path"] not in _HEALTH:
            peer = scope.get("client")
            self._service.check_rate(
                principal.name if principal else f"from {peer[0] if peer else 'somewhere'}"
            )
        if principal is None and b"authorization" in headers:
            self._metrics.invalid_tokens.inc()


def _check_encoding(headers: dict[bytes, bytes]) -> None:
    """Raise Refused if a body is compressed."""
    encoding = headers.get(b"content-encoding", b"identity").decode("latin-1").lower()
    if encoding != "identity":
        raise Refused(
            WRONG_MEDIA_TYPE,
            f"the body has the Content-Encoding {encoding}; send it uncompressed",
            headers={"Accept-Encoding": "identity"},
        )


class _Response:
    """Sends a response with the headers of every response, or a problem if nothing has been sent.

    `headers`: further headers. `without_content`: end the response after its headers.
    """

    def __init__(
        self, send: Send, request_id: str, *, headers: Headers, without_content: bool
    ) -> None:
        self._send = send
        self._request_id = request_id
        self._headers = headers
        self._without_content = without_content
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *map(_with_head, message["headers"]),
                (b"x-request-id", self._request_id.encode()),
                (b"cache-control", b"no-store"),
                (b"x-content-type-options", b"nosniff"),
                *self._headers,
            ]
            await self._send(message)
            if self._without_content:
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not self._without_content:
            await self._send(message)

    async def send(self, status: int, headers: Headers, body: bytes = b"") -> None:
        """Send a whole response."""
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body, "more_body": False})

    async def send_problem(self, error: Exception) -> None:
        """Send the problem response for an error."""
        problem = to_problem(error)
        body = msgspec.json.encode(problem.problem(self._request_id))
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            # The unread part of the body must not be parsed as the next request.
            (b"connection", b"close"),
            *((name.lower().encode(), value.encode()) for name, value in problem.headers.items()),
        ]
        await self.send(problem.kind.status, headers, body)


def _with_head(header: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    """Add HEAD to the allowed methods of a resource that can be read."""
    name, value = header
    if name.lower() == b"allow" and b"GET" in value and b"HEAD" not in value:
        return name, value + b", HEAD"
    return header


class _TimedBody:
    """Receives a body, with a timeout for silent and for very slow clients.

    A body may take `seconds`, plus one second for each kilobyte received. If it is read line by
    line, that limit applies to each line. A connection that closes before the end of an expected
    body is the client's error.
    """

    def __init__(self, receive: Receive, seconds: float, *, expected: bool, by_line: bool) -> None:
        self._receive = receive
        self._seconds = seconds
        self._expected = expected
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
        if self._expected and message["type"] == "http.disconnect":
            raise Refused(MALFORMED, "the connection was closed before the end of the body")
        self._complete = not message.get("more_body", False)
        body = message.get("body", b"")
        self._received_bytes += len(body)
        self._waited += time.monotonic() - started
        if self._by_line and b"\n" in body:
            self._received_bytes, self._waited = 0, 0.0
        return message
