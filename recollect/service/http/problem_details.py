"""Problem details (RFC 9457): every error of the service, each with a type of its own."""

from __future__ import annotations

import re
from errno import EROFS
from typing import Any, NamedTuple

import apsw
import msgspec
from litestar.exceptions import HTTPException, NotAuthorizedException, ValidationException

from recollect.operations.ingestion.ingesting import StoredButUndecided
from recollect.projections.disk_space import is_disk_full
from recollect.schemas.decoder_errors import choices_hint
from recollect.schemas.errors import (
    AgentMismatch,
    AlreadyClosed,
    Busy,
    CommandConflict,
    DecisionTimeout,
    InvalidInput,
    InvalidSetting,
    MissingExtra,
    ReadOnlyHome,
    RecollectError,
    UnknownId,
    UnknownZone,
    install_command,
)
from recollect.schemas.text_sanitising import truncate_middle
from recollect.streams.engine.stop_causes import stop_cause
from recollect.streams.ledger import LedgerUnavailable

MEDIA_TYPE = "application/problem+json"
_TYPES = "urn:recollect:problem:"


class ProblemKind(NamedTuple):
    """A kind of problem: the end of its type URI, its status, and its constant title."""

    name: str
    status: int
    title: str

    @property
    def type(self) -> str:
        """The type URI."""
        return _TYPES + self.name


MALFORMED = ProblemKind("malformed", 400, "The request cannot be read")
UNAUTHORIZED = ProblemKind("unauthorized", 401, "A valid access token is required")
FORBIDDEN_ORIGIN = ProblemKind("forbidden-origin", 403, "Host or origin not allowed")
NOT_FOUND = ProblemKind("not-found", 404, "Not found")
WRONG_METHOD = ProblemKind("wrong-method", 405, "Method not allowed")
CONFLICT = ProblemKind("conflict", 409, "The key or id is in use for something else")
BUSY = ProblemKind("busy", 409, "The operation is already running")
TOO_LARGE = ProblemKind("too-large", 413, "The body is too large")
WRONG_MEDIA_TYPE = ProblemKind("wrong-media-type", 415, "Unsupported content type")
INVALID = ProblemKind("invalid", 422, "Invalid value")
TOO_MANY = ProblemKind("too-many-requests", 429, "Too many requests")
FAILED = ProblemKind("failed", 500, "Internal error")
NOT_SERVED = ProblemKind("not-served", 501, "Not supported")
READ_ONLY = ProblemKind("read-only", 503, "The memory is read-only")
OVERLOADED = ProblemKind("overloaded", 503, "Too many running calls")
TIMED_OUT = ProblemKind("timed-out", 503, "Timeout")
NOT_DECIDED = ProblemKind("not-decided", 503, "Stored, but not processed yet")
UNAVAILABLE = ProblemKind("unavailable", 503, "The memory is unavailable")
DISK_FULL = ProblemKind("disk-full", 507, "The disk is full")

KINDS = (
    *(MALFORMED, UNAUTHORIZED, FORBIDDEN_ORIGIN, NOT_FOUND, WRONG_METHOD, CONFLICT, BUSY),
    *(TOO_LARGE, WRONG_MEDIA_TYPE, INVALID, TOO_MANY, FAILED, NOT_SERVED, OVERLOADED),
    *(READ_ONLY, TIMED_OUT, NOT_DECIDED, UNAVAILABLE, DISK_FULL),
)

_NOTHING = "there is nothing at this address, or nothing that this token may access"
_RETRY_SECONDS = 1
# The maximum number of characters, since a detail may quote the request.
_MAX_DETAIL_LENGTH = 300


class FieldError(msgspec.Struct, frozen=True):
    """An error in one value, with the value's JSON pointer or the parameter's name."""

    pointer: str
    detail: str

    def shortened(self) -> FieldError:
        """Return the error with long texts truncated in the middle."""
        return FieldError(
            truncate_middle(self.pointer, _MAX_DETAIL_LENGTH),
            truncate_middle(self.detail, _MAX_DETAIL_LENGTH),
        )


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The body of a problem response."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    errors: tuple[FieldError, ...] = ()


class Refused(Exception):
    """Ends a request with a problem response (RFC 9457)."""

    def __init__(
        self,
        kind: ProblemKind,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        *,
        retry_after: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = truncate_middle(detail, _MAX_DETAIL_LENGTH)
        self.errors = errors
        self.headers = dict(headers or {})
        if retry_after is not None:
            self.headers["Retry-After"] = str(retry_after)

    def problem(self, request_id: str) -> Problem:
        """Return the body of the response."""
        return Problem(
            type=self.kind.type,
            title=self.kind.title,
            status=self.kind.status,
            detail=self.detail,
            request_id=request_id,
            errors=tuple(error.shortened() for error in self.errors),
        )


def not_found() -> Refused:
    """Return the problem for a resource that is missing, or to which the token has no right."""
    return Refused(NOT_FOUND, _NOTHING)


def unauthorized() -> Refused:
    """Return the problem for a missing or invalid token."""
    return Refused(
        UNAUTHORIZED,
        "the access token is missing, invalid, expired or revoked; send Authorization: Bearer and "
        "a token made by recollect token create",
        headers={"WWW-Authenticate": 'Bearer realm="recollect"'},
    )


def to_problem(error: Exception) -> Refused:
    """Return the problem for an exception; for an unexpected one it reveals nothing."""
    if isinstance(error, Refused):
        return error
    if is_disk_full(error):
        return Refused(
            DISK_FULL, "nothing was lost, and queries are still answered: free some space"
        )
    if isinstance(error, ReadOnlyHome | apsw.ReadOnlyError) or (
        isinstance(error, OSError) and error.errno == EROFS
    ):
        return Refused(
            READ_ONLY, "queries are answered; for writes, the operator must make the home writable"
        )
    if isinstance(error, RecollectError):
        return _from_recollect(error)
    if isinstance(error, HTTPException):
        return _from_litestar(error)
    if isinstance(error, apsw.Error):
        return Refused(FAILED, stop_cause(error))
    return Refused(FAILED, "look up this request_id in the service's log")


def _from_recollect(error: RecollectError) -> Refused:
    if isinstance(error, UnknownZone):
        # The error's message may name other zones.
        return not_found()
    if isinstance(error, UnknownId):
        return Refused(NOT_FOUND, str(error))
    if isinstance(error, InvalidSetting):
        return Refused(
            FAILED,
            "a setting of the service is invalid; the operator finds it in the service's log",
        )
    if isinstance(error, InvalidInput):
        return Refused(INVALID, str(error))
    if isinstance(error, Busy):
        return Refused(
            BUSY,
            "the same operation is already running; wait until it ends",
            retry_after=_RETRY_SECONDS,
        )
    if isinstance(error, CommandConflict):
        return Refused(CONFLICT, "the ledger has a different event with this id; use another id")
    if isinstance(error, StoredButUndecided):
        # A retry would perform the call twice.
        return Refused(NOT_DECIDED, str(error))
    if isinstance(error, DecisionTimeout):
        return Refused(NOT_DECIDED, str(error), retry_after=_RETRY_SECONDS)
    if isinstance(error, MissingExtra):
        command = install_command(error.extra)
        detail = (
            f"the service lacks the extra {error.extra}; the operator can install it: {command}"
        )
        return Refused(NOT_SERVED, detail)
    if isinstance(error, AlreadyClosed | LedgerUnavailable):
        detail = "the service is stopping, or its ledger cannot be reached; try again"
        return Refused(UNAVAILABLE, detail, retry_after=_RETRY_SECONDS)
    if isinstance(error, AgentMismatch):
        # The error's message names files and packages.
        detail = (
            "the zone was processed by agents other than the service's: the operator must run "
            "recollect rebuild --level derive"
        )
        return Refused(UNAVAILABLE, detail)
    # Messages about damaged files contain their names, which only the operator may see.
    return Refused(
        FAILED, "the operator must repair the home: see recollect doctor and the service's log"
    )


def _from_litestar(error: HTTPException) -> Refused:
    kinds = {
        400: MALFORMED,
        404: NOT_FOUND,
        405: WRONG_METHOD,
        413: TOO_LARGE,
        415: WRONG_MEDIA_TYPE,
    }
    if isinstance(error, NotAuthorizedException):
        return unauthorized()
    if error.status_code == 404:
        return not_found()
    if isinstance(error, ValidationException):
        return Refused(MALFORMED, "a value of the request is invalid; see errors", _fields(error))
    kind = kinds.get(error.status_code, FAILED)
    headers = {name: value for name, value in (error.headers or {}).items() if name == "allow"}
    details = {
        400: "the request cannot be read",
        405: "see Allow for the allowed methods",
        413: "send less at a time, or events as NDJSON",
        415: "send JSON as application/json",
    }
    detail = details.get(error.status_code, "see the service's log")
    return Refused(kind, detail, headers=headers)


def _fields(error: ValidationException) -> tuple[FieldError, ...]:
    extra = error.extra if isinstance(error.extra, list) else []
    field_errors = []
    for item in extra:
        name = str(item.get("key", "")) if isinstance(item, dict) else ""
        message = str(item.get("message", "")) if isinstance(item, dict) else ""
        if name == "data":
            field_errors.append(FieldError("#", "the body is missing; send JSON"))
        else:
            field_errors.append(FieldError(name, message))
    return tuple(field_errors)


_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def field_error(error: msgspec.ValidationError, kind: Any) -> FieldError:
    """Return an error of decoding a type, with its JSON pointer."""
    reason, _, place = str(error).partition(" - at `$")
    steps = [name or number for name, number in _STEP.findall(place.rstrip("`"))]
    if "..." in steps:
        # The decoder does not tell the name of a member of a map.
        steps = steps[: steps.index("...")]
    escaped = [step.replace("~", "~0").replace("/", "~1") for step in steps]
    return FieldError(
        "#" + "".join(f"/{step}" for step in escaped), reason + choices_hint(error, kind)
    )
