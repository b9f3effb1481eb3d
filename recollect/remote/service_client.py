"""Calls of a service: one HTTP client, retries, and problems as the library's own errors."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec

from recollect.schemas.errors import (
    AlreadyClosed,
    Busy,
    CommandConflict,
    DecisionTimeout,
    DiskFull,
    HomeError,
    InvalidInput,
    ReadOnlyHome,
    RecollectError,
    Unauthorized,
    Unavailable,
    UnknownId,
    UnknownZone,
)
from recollect.streams.system.http_clients import http_client

T = TypeVar("T")

_ATTEMPTS = 5
# Seconds before the second attempt; each time twice as long, and up to half as long again, so that
# many who were refused together do not come back together.
_FIRST_WAIT = 0.1
_MAX_WAIT_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_NDJSON = "application/x-ndjson"
# A value of a query, as a URL may have it.
_Parameters = Mapping[str, str | int | bool | list[str] | None]

_TYPES = "urn:recollect:problem:"
_NOTHING_HERE = "there is nothing at this address"
_ERRORS: dict[str, type[RecollectError]] = {
    "malformed": InvalidInput,
    "unauthorized": Unauthorized,
    "forbidden-origin": Unauthorized,
    "conflict": CommandConflict,
    "busy": Busy,
    "too-large": InvalidInput,
    "wrong-media-type": InvalidInput,
    "invalid": InvalidInput,
    "too-many-requests": Unavailable,
    "failed": HomeError,
    "overloaded": Unavailable,
    "timed-out": Unavailable,
    "read-only": ReadOnlyHome,
    "disk-full": DiskFull,
    "not-decided": DecisionTimeout,
    "unavailable": Unavailable,
}
# Also from whatever stands before a service.
_TRY_AGAIN = frozenset({429, 502, 503, 504})


class FieldProblem(msgspec.Struct, frozen=True):
    """What is wrong with one value, and where it stands."""

    pointer: str
    detail: str


class Problem(msgspec.Struct, frozen=True):
    """An error as a service says it (RFC 9457)."""

    type: str
    detail: str
    request_id: str = ""
    errors: tuple[FieldProblem, ...] = ()


class RefusedFields(InvalidInput):
    """Input that a service refused; `errors` say which values."""

    def __init__(self, detail: str, errors: tuple[FieldProblem, ...]) -> None:
        super().__init__(detail)
        self.errors = errors


class _Failure(NamedTuple):
    """An attempt that failed: its error, and after how many seconds another one may do better.

    None: no other will. -1: the service did not say when.
    """

    error: RecollectError
    again_after: float | None


class ServiceClient:
    """A service at a URL. Any thread may call it; connections are kept open and shared.

    Every call may be made twice: what writes carries a key under which a service does it once.
    """

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        """`timeout`: seconds that the service may be silent."""
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if not parts.netloc or parts.query or parts.fragment or self.url.split() != [self.url]:
            raise InvalidInput(f"home: {url!r} is no address of a service, as http://host:8420")
        if timeout <= 0:
            raise InvalidInput(f"timeout {timeout!r}: give seconds, more than 0")
        headers = {"User-Agent": f"recollect/{version('recollect')}", "Prefer": "empty-zone"}
        if token is not None:
            if not token.isascii() or not token.isprintable() or not token.strip():
                raise InvalidInput("token is none; recollect token create makes one")
            headers["Authorization"] = f"Bearer {token.strip()}"
        self._timeout = timeout
        self._closing = threading.Event()
        self._client = http_client(
            httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS), pool=None),
            headers=headers,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
        )

    def close(self) -> None:
        """Make no more calls, and close all connections."""
        self._closing.set()
        self._client.close()

    def get(self, path: str, kind: type[T], **parameters: str | int | bool | list[str] | None) -> T:
        """Return what is at a path."""
        return self._json("GET", path, kind, parameters, None, {})

    def ask(self, path: str, kind: type[T], body: object, *, seconds: float | None = None) -> T:
        """Return the answer to a body that changes nothing; `seconds`: as long as it may take."""
        return self._json("POST", path, kind, {}, body, {}, seconds)

    def change(
        self,
        method: str,
        path: str,
        kind: type[T],
        body: object = None,
        **parameters: str | int | bool | None,
    ) -> T:
        """Return what a change comes to; however often it is sent, it is made once."""
        key = {"Idempotency-Key": secrets.token_hex(16)}
        return self._json(method, path, kind, parameters, body, key)

    def stream(self, path: str, kind: type[T], lines: Callable[[], Iterator[bytes]]) -> T:
        """Return the answer to lines of JSON, which are sent as they come.

        `lines` is called for each attempt, and yields the same lines every time.
        """

        def send() -> httpx.Response:
            return self._client.post(
                self.url + path, content=lines(), headers={"Content-Type": _NDJSON}
            )

        return _decoded(self._answer(path, send), kind)

    def _json(
        self,
        method: str,
        path: str,
        kind: type[T],
        parameters: _Parameters,
        body: object,
        headers: dict[str, str],
        seconds: float | None = None,
    ) -> T:
        content = None if body is None else msgspec.json.encode(body)
        if content is not None:
            headers = {**headers, "Content-Type": "application/json"}
        given = {name: _text(value) for name, value in parameters.items() if value is not None}

        def send() -> httpx.Response:
            return self._client.request(
                method,
                self.url + path,
                content=content,
                params=given or None,
                headers=headers,
                timeout=self._client.timeout if seconds is None else seconds,
            )

        return _decoded(self._answer(path, send), kind)

    def _answer(self, path: str, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Return an answer that is no error, at the latest at the last attempt."""
        for attempt in range(_ATTEMPTS):
            if self._closing.is_set():
                raise self._closed()
            found = self._attempt(path, send)
            if isinstance(found, httpx.Response):
                return found
            if found.again_after is None or attempt == _ATTEMPTS - 1:
                raise found.error
            wait = _FIRST_WAIT * 2**attempt * (1 + random.random() / 2)
            self._closing.wait(min(max(wait, found.again_after), _MAX_WAIT_SECONDS))
        raise AssertionError("unreachable")

    def _attempt(self, path: str, send: Callable[[], httpx.Response]) -> httpx.Response | _Failure:
        try:
            response = send()
        except httpx.TimeoutException:
            message = f"{self.url} did not answer within {self._timeout:g} s; try again later"
            return _Failure(Unavailable(message), None)
        except httpx.TransportError as error:
            message = (
                f"{self.url} cannot be reached ({error or type(error).__name__}); see that "
                "recollect serve runs there"
            )
            return _Failure(Unavailable(message), -1)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise InvalidInput(f"home: {self.url!r} is no address of a service: {error}") from None
        except RuntimeError:
            if self._closing.is_set():
                raise self._closed() from None
            raise
        if response.is_success:
            return response
        return self._refused(path, response)

    def _closed(self) -> AlreadyClosed:
        return AlreadyClosed(f"the connection to {self.url} was closed; open Recollect again")

    def _refused(self, path: str, response: httpx.Response) -> _Failure:
        again_after = _retry_after(response) if response.status_code in _TRY_AGAIN else None
        try:
            problem = msgspec.json.decode(response.content, type=Problem)
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = (
                f"{self.url} answered {response.status_code} {response.reason_phrase}, as no "
                "recollect service does; see that the address is one"
            )
            return _Failure(Unavailable(message), again_after)
        error = _error_of(problem, response.status_code, path)
        if isinstance(error, DecisionTimeout | ReadOnlyHome):
            again_after = None
        return _Failure(error, again_after)


def _error_of(problem: Problem, status: int, path: str) -> RecollectError:
    """Return the library's error for a problem."""
    name, detail = problem.type.removeprefix(_TYPES), problem.detail
    if name == "not-found":
        if not detail.startswith(_NOTHING_HERE):
            return UnknownId(detail)
        return UnknownZone(f"{path}: {detail}; see that the zone holds something")
    kind = _ERRORS.get(name)
    if kind is InvalidInput:
        return RefusedFields(detail, problem.errors)
    if kind is HomeError and problem.request_id:
        detail = f"{detail} (request {problem.request_id})"
    if kind is None:
        return RecollectError(f"the service answered {status}: {detail}")
    return kind(detail)


def _retry_after(response: httpx.Response) -> float:
    """Return how long the service asks to wait; -1 where it does not say so in seconds."""
    said = response.headers.get("retry-after", "")
    return float(said) if said.isdigit() else -1


def _decoded(response: httpx.Response, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(response.content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"{response.url} answered what this version of recollect cannot read: {error}"
        ) from None


def _text(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
