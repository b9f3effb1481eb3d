"""The HTTP client of a service, with retries; problem responses become the library's errors."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
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
# Exponential backoff, in seconds, with up to 50 % jitter.
_FIRST_WAIT = 0.1
_MAX_WAIT_SECONDS = 30.0
_CONNECT_SECONDS = 10.0
_NDJSON = "application/x-ndjson"
_Parameters = Mapping[str, str | int | bool | list[str] | None]

_TYPE_PREFIX = "urn:recollect:problem:"
# The detail of a 404 starts with this text unless only an id in the zone is unknown.
_UNKNOWN_ADDRESS = "there is nothing at this address"
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
# Status codes worth a retry; a proxy in front of the service may send them too.
_RETRYABLE = frozenset({429, 502, 503, 504})


class FieldProblem(msgspec.Struct, frozen=True):
    """The problem with one value, and the JSON pointer to the value."""

    pointer: str
    detail: str


class Problem(msgspec.Struct, frozen=True):
    """A problem response of a service (RFC 9457)."""

    type: str
    detail: str
    request_id: str = ""
    errors: tuple[FieldProblem, ...] = ()


class InvalidFields(InvalidInput):
    """Input that a service rejected; `errors` lists the invalid values."""

    def __init__(self, detail: str, errors: tuple[FieldProblem, ...]) -> None:
        super().__init__(detail)
        self.errors = errors


class _Failure(NamedTuple):
    """A failed attempt and the delay before a retry, in seconds.

    `retry_after`: None if a retry is useless; -1 if the service named no delay.
    """

    error: RecollectError
    retry_after: float | None


class ServiceClient:
    """The client of the service at a URL. Any thread may use it; connections are pooled.

    All requests can be retried: those that write carry an idempotency key.
    """

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        """`timeout`: the read timeout, in seconds."""
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if not parts.netloc or parts.query or parts.fragment or self.url.split() != [self.url]:
            raise InvalidInput(
                f"home: {url!r} is not the URL of a service, such as http://host:8420"
            )
        if timeout <= 0:
            raise InvalidInput(f"timeout {timeout!r}: give a number of seconds above 0")
        headers = {"User-Agent": f"recollect/{version('recollect')}", "Prefer": "empty-zone"}
        if token is not None:
            if not token.isascii() or not token.isprintable() or not token.strip():
                raise InvalidInput(
                    "token is not an access token; run recollect token create to make one"
                )
            headers["Authorization"] = f"Bearer {token.strip()}"
        self._timeout = timeout
        self._closing = threading.Event()
        self._client = http_client(
            httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS), pool=None),
            headers=headers,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
        )

    def close(self) -> None:
        """Refuse further calls, and close all connections."""
        self._closing.set()
        self._client.close()

    def get(
        self, path: str, kind: type[T], /, **parameters: str | int | bool | list[str] | None
    ) -> T:
        """GET a path."""
        return self._json("GET", path, kind, parameters, None, {})

    def query(self, path: str, kind: type[T], body: object, *, seconds: float | None = None) -> T:
        """POST a body that changes nothing; `seconds`: a timeout for this request."""
        return self._json("POST", path, kind, {}, body, {}, seconds)

    def change(
        self,
        method: str,
        path: str,
        kind: type[T],
        body: object = None,
        **parameters: str | int | bool | None,
    ) -> T:
        """Send a request that writes, with an idempotency key."""
        key = {"Idempotency-Key": secrets.token_hex(16)}
        return self._json(method, path, kind, parameters, body, key)

    def stream(self, path: str, kind: type[T], lines: Callable[[], Iterator[bytes]]) -> T:
        """POST lines of JSON as they are produced.

        `lines` is called for each attempt, and must yield the same lines every time.
        """

        def send() -> httpx.Response:
            return self._client.post(
                self.url + path, content=lines(), headers={"Content-Type": _NDJSON}
            )

        return _decode(self._answer(path, send), kind)

    def lines(self, path: str) -> Iterator[bytes]:
        """GET lines; they are read as they arrive, each with its line feed.

        Raises:
            Unavailable: the connection was lost; the lines so far are not all.
        """

        def send() -> httpx.Response:
            request = self._client.build_request("GET", self.url + path)
            response = self._client.send(request, stream=True)
            if not response.is_success:
                response.read()
            return response

        return self._lines_of(self._answer(path, send))

    def _lines_of(self, response: httpx.Response) -> Iterator[bytes]:
        with closing(response):
            rest = b""
            try:
                for chunk in response.iter_bytes():
                    *whole, rest = (rest + chunk).split(b"\n")
                    yield from (line + b"\n" for line in whole)
            except httpx.HTTPError as error:
                raise Unavailable(
                    f"the connection to {self.url} was lost ({error or type(error).__name__}); "
                    "try again"
                ) from None
            if rest:
                raise Unavailable(
                    f"the connection to {self.url} was lost in the middle of a line; try again"
                )

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

        return _decode(self._answer(path, send), kind)

    def _answer(self, path: str, send: Callable[[], httpx.Response]) -> httpx.Response:
        """Send a request, with retries, and return its successful response."""
        for attempt in range(_ATTEMPTS):
            if self._closing.is_set():
                raise self._closed_error()
            outcome = self._attempt(path, send)
            if isinstance(outcome, httpx.Response):
                return outcome
            if outcome.retry_after is None or attempt == _ATTEMPTS - 1:
                raise outcome.error
            wait = _FIRST_WAIT * 2**attempt * (1 + random.random() / 2)
            self._closing.wait(min(max(wait, outcome.retry_after), _MAX_WAIT_SECONDS))
        raise AssertionError("unreachable")

    def _attempt(self, path: str, send: Callable[[], httpx.Response]) -> httpx.Response | _Failure:
        try:
            response = send()
        except httpx.TimeoutException:
            message = f"{self.url} did not answer within {self._timeout:g} s; try again later"
            return _Failure(Unavailable(message), None)
        except httpx.TransportError as error:
            message = (
                f"{self.url} cannot be reached ({error or type(error).__name__}); check that "
                "recollect serve runs there"
            )
            return _Failure(Unavailable(message), -1)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise InvalidInput(f"home: {self.url!r} is not the URL of a service: {error}") from None
        except RuntimeError:
            if self._closing.is_set():
                raise self._closed_error() from None
            raise
        if response.is_success:
            return response
        return self._failure(path, response)

    def _closed_error(self) -> AlreadyClosed:
        return AlreadyClosed(f"the connection to {self.url} was closed; open Recollect again")

    def _failure(self, path: str, response: httpx.Response) -> _Failure:
        retry_after = _retry_after(response) if response.status_code in _RETRYABLE else None
        try:
            problem = msgspec.json.decode(response.content, type=Problem)
        except (msgspec.DecodeError, UnicodeDecodeError):
            message = (
                f"{self.url} answered {response.status_code} {response.reason_phrase} without a "
                "problem description; check that it is the URL of a recollect service"
            )
            return _Failure(Unavailable(message), retry_after)
        error = _error_of(problem, response.status_code, path)
        if isinstance(error, DecisionTimeout | ReadOnlyHome):
            retry_after = None
        return _Failure(error, retry_after)


def _error_of(problem: Problem, status: int, path: str) -> RecollectError:
    """Return the library's error for a problem."""
    name, detail = problem.type.removeprefix(_TYPE_PREFIX), problem.detail
    if name == "not-found":
        if not detail.startswith(_UNKNOWN_ADDRESS):
            return UnknownId(detail)
        return UnknownZone(f"{path}: {detail}; check that the zone has events")
    kind = _ERRORS.get(name)
    if kind is InvalidInput:
        return InvalidFields(detail, problem.errors)
    if kind is HomeError and problem.request_id:
        detail = f"{detail} (request {problem.request_id})"
    if kind is None:
        return RecollectError(f"the service answered {status}: {detail}")
    return kind(detail)


def _retry_after(response: httpx.Response) -> float:
    """Return the `Retry-After` header in seconds; -1 if it is missing or a date."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isdigit() else -1


def _decode(response: httpx.Response, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(response.content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"{response.url} sent a response that this version of recollect cannot read: {error}"
        ) from None


def _text(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
