"""Routes that take events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

import msgspec
from litestar import post
from litestar.params import FromPath, FromQuery
from msgspec import Meta

from recollect.home.consistency_token import LedgerPosition
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.wire import IngestReport
from recollect.service.http.idempotent_calls import HEADER
from recollect.service.http.json_bodies import check_json, decode, is_ndjson
from recollect.service.http.problem_details import (
    INVALID,
    TOO_LARGE,
    FieldError,
    Refused,
)
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import lines_of, principal_in, right_of, service_of

# Lines that are put into the ledger at once.
_BATCH_BYTES = 524_288
# Those that are told of when all were refused.
_MAX_ERRORS = 100


class EventBatch(msgspec.Struct, frozen=True):
    """Any number of events."""

    events: Annotated[list[InboundEvent], Meta(description="The events, in order.")]


class _Events(msgspec.Struct):
    events: list[msgspec.Raw]


@post(
    "/events",
    status_code=200,
    opt={"right": "write"},
    request_max_body_size=None,
    include_in_schema=False,
)
async def take_events(
    request: AnyRequest, zone: FromPath[str], wait: FromQuery[bool] = False
) -> IngestReport:
    """Put events into the ledger; they are durable when this answers, and searchable as turns.

    `wait`: answer when everything that is decided from them can be recalled.
    """
    service = service_of(request)
    if is_ndjson(request.headers.get("content-type", "")):
        # Lines are taken once by what they say.
        report = await _import(request, zone, lines_of(request, _BATCH_BYTES))
    else:
        check_json(request.headers.get("content-type", ""))
        body = await _body(request)
        report = await service.calls.once(
            principal_in(request).name,
            zone,
            str(request.scope["path"]),
            request.headers.get(HEADER),
            body,
            lambda: _import(request, zone, _together(_events(body))),
        )
    if wait:
        await service.until(zone, LedgerPosition.parse(report.token).number)
    return report


async def _import(
    request: AnyRequest, zone: str, parts: AsyncIterator[list[bytes]]
) -> IngestReport:
    """Put events into the ledger part by part, and return what became of them.

    Raises:
        Refused: all of them were.
    """
    service, principal = service_of(request), principal_in(request)
    begun = await service.write(
        principal,
        zone,
        right_of(request),
        lambda held: held.event_import(principal.mark(zone)),
        makes=True,
    )
    async for lines in parts:
        await service.writing.run(partial(begun.add, lines))
    report = await service.writing.run(begun.report)
    service.counted(report)
    if report.read and report.rejected == report.read:
        raise _none_kept(report)
    return report


async def _together(events: list[bytes]) -> AsyncIterator[list[bytes]]:
    yield events


async def _body(request: AnyRequest) -> bytes:
    most = service_of(request).settings.body_bytes
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise Refused(TOO_LARGE, f"a body of JSON may have {most} bytes; send events as NDJSON")
    return bytes(body)


def _events(body: bytes) -> list[bytes]:
    """Return the events of a body of JSON: one, or those under `events`."""
    if "events" not in decode(body, dict[str, msgspec.Raw]):
        return [body]
    return [bytes(event) for event in decode(body, _Events).events]


def _none_kept(report: IngestReport) -> Refused:
    """Return the answer where every event was refused."""
    return Refused(
        INVALID,
        f"none of {report.read} events can be kept" if report.read > 1 else "it cannot be kept",
        tuple(
            FieldError(f"#/events/{rejection.line - 1}", rejection.reason)
            for rejection in report.rejections[:_MAX_ERRORS]
        ),
    )


ROUTES = (take_events,)
