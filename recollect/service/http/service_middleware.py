"""What happens to every request before and after its route: id, origin, token, limits, log."""

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
from recollect.service.http.id_paths import keep_together
from recollect.service.http.json_bodies import is_ndjson
from recollect.service.http.problem_details import (
    FORBIDDEN_ORIGIN,
    MEDIA_TYPE,
    TIMED_OUT,
    Refused,
    refusal,
)
from recollect.service.principals import Principal
from recollect.service.query_service import QueryService

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# A body that comes more slowly is not waited for.
_MIN_BYTES_PER_SECOND = 1_000
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"})
#: Where in a request's scope its id and its principal stand.
REQUEST_ID, PRINCIPAL = "recollect.request_id", "recollect.principal"


def principal_of(scope: Scope) -> Principal | None:
    """Return on whose behalf a request is made; None where it says nobody."""
    found: Principal | None = scope.get(PRINCIPAL)  # type: ignore[assignment]
    return found


def request_id_of(scope: Scope) -> str:
    """Return the id of a request, which its answer and the log name."""
    return str(scope.get(REQUEST_ID, ""))


class ServiceMiddleware:
    """Stands before the whole application, also before what is mounted into it."""

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
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope[REQUEST_ID] = request_id  # type: ignore[literal-required]
        answer = _Answer(send, request_id)
        began = time.perf_counter()
        self._metrics.open.inc()
        try:
            self._admit(scope, headers)
            keep_together(scope)
            by_line = is_ndjson(headers.get(b"content-type", b"").decode("latin-1"))
            patient = _Patient(receive, self._service.settings.request_seconds, by_line=by_line)
            with continue_trace(headers):
                await self._app(scope, patient, answer)
        except Exception as error:
            if answer.status == 0:
                await answer.refuse(error)
            if not isinstance(error, Refused):
                self._log.error("request failed", error, request_id=request_id)
        finally:
            self._metrics.open.dec()
            seconds = time.perf_counter() - began
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = str(scope.get("path_template") or "none")
            status = answer.status or 499
            self._metrics.request(route, method, status, seconds)
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
        self._service.limit(
            principal.name if principal else f"from {peer[0] if peer else 'somewhere'}"
        )
        if principal is None and b"authorization" in headers:
            self._metrics.refused_logins.inc()

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Refuse what a page of another site makes a browser send here, also by a name of its own.

        Raises:
            Refused: the host or the origin is not one of this service.
        """
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if self._hosts is not None and _name(host) not in self._hosts:
            raise Refused(FORBIDDEN_ORIGIN, "call the service by the name that it was given")
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if not origin or origin in self._service.settings.origins:
            return
        try:
            calls_itself = urlsplit(origin).netloc == host
        except ValueError:
            calls_itself = False
        if not calls_itself:
            raise Refused(FORBIDDEN_ORIGIN, "pages of this origin may not call this service")


def _hosts(service: QueryService) -> frozenset[str] | None:
    """Return the names by which the service may be called; None: any."""
    settings = service.settings
    if settings.hosts:
        return frozenset({*map(str.lower, settings.hosts), *_LOOPBACK})
    if settings.on_loopback:
        return frozenset({settings.host.strip("[]").lower(), *_LOOPBACK})
    return None


_LOOPBACK: Iterable[str] = ("localhost", "127.0.0.1", "::1")


def _name(host: str) -> str:
    """Return the name in a header Host, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] or host


class _Answer:
    """Sends an answer with the request's id; it may be refused until it has begun."""

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

    async def refuse(self, error: Exception) -> None:
        refused = refusal(error)
        body = msgspec.json.encode(refused.problem(self._request_id))
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            # What was not read of the body must not be taken for the next request.
            (b"connection", b"close"),
            *((name.lower().encode(), value.encode()) for name, value in refused.headers.items()),
        ]
        await self(
            {"type": "http.response.start", "status": refused.kind.status, "headers": headers}
        )
        await self({"type": "http.response.body", "body": body, "more_body": False})


class _Patient:
    """Receives a body from a client that may be slow, but neither silent nor a trickle for ever.

    A body, or each line of one that is read by the line, is waited for so many seconds, and a
    second more for each kilobyte of it that came.
    """

    def __init__(self, receive: Receive, seconds: float, *, by_line: bool) -> None:
        self._receive = receive
        self._seconds = seconds
        self._by_line = by_line
        self._whole = False
        self._came = 0
        self._waited = 0.0

    async def __call__(self) -> Any:
        if self._whole:
            # Whoever asks now waits for the client to go away.
            return await self._receive()
        # What the service itself took in between is not the client's.
        began = time.monotonic()
        patience = self._seconds + self._came / _MIN_BYTES_PER_SECOND - self._waited
        try:
            async with asyncio.timeout(min(self._seconds, patience)):
                message: Any = await self._receive()
        except TimeoutError:
            detail = f"the client sent too little within {self._seconds:g} s"
            raise Refused(TIMED_OUT, detail, retry_after=1) from None
        self._whole = not message.get("more_body", False)
        body = message.get("body", b"")
        self._came += len(body)
        self._waited += time.monotonic() - began
        if self._by_line and b"\n" in body:
            self._came, self._waited = 0, 0.0
        return message
