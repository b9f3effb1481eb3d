"""The routes through which events come in and go out."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from functools import partial
from itertools import islice
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Stream
from msgspec import Meta

from recollect.home.consistency_token import LedgerPosition
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.wire import IngestReport
from recollect.schemas.zones import BRANCH_MARK
from recollect.service.http.idempotent_calls import HEADER
from recollect.service.http.json_bodies import check_json, decode, is_ndjson
from recollect.service.http.problem_details import (
    INVALID,
    TOO_LARGE,
    FieldError,
    Refused,
)
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import (
    check_parameters,
    existing_zone,
    lines_of,
    principal_in,
    right_of,
    service_of,
)

# The size of the batches in which NDJSON lines are appended.
_BATCH_BYTES = 524_288
# Lines in a chunk of an export.
_EXPORT_LINES = 200
# The maximum number of errors in the problem response if all events are invalid.
_MAX_ERRORS = 100
# The JSON pointer to an event of a batch, by its index.
_PLACE_IN_BATCH = "#/events/{}"


class EventBatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Any number of events."""

    events: Annotated[list[InboundEvent], Meta(description="The events, in order.")]


class _Events(msgspec.Struct, forbid_unknown_fields=True):
    events: list[msgspec.Raw]


@post(
    "/events",
    status_code=200,
    opt={"right": "write"},
    request_max_body_size=None,
    include_in_schema=False,
)
async def ingest_events(
    request: AnyRequest, zone: FromPath[str], wait: FromQuery[bool] = False
) -> IngestReport:
    """Append events to the ledger; they are durable and searchable as turns on return.

    `wait`: answer only when the events are decided and can be recalled.
    """
    check_parameters(request, ("wait",))
    service = service_of(request)
    if is_ndjson(request.headers.get("content-type", "")):
        # No idempotency key is needed: events are deduplicated.
        report = await _import(request, zone, lines_of(request, _BATCH_BYTES))
    else:
        check_json(request.headers.get("content-type", ""))
        body = await _body(request)
        report = await service.calls.run_once(
            principal_in(request).name,
            zone,
            str(request.scope["path"]),
            request.headers.get(HEADER),
            body,
            lambda: _import_json(request, zone, body),
        )
    if wait:
        await service.wait_until_decided(zone, LedgerPosition.parse(report.token).number)
    return report


async def _import(
    request: AnyRequest,
    zone: str,
    batches: AsyncIterator[list[bytes]],
    place: str = _PLACE_IN_BATCH,
) -> IngestReport:
    """Append batches of events to the ledger; `place` is the JSON pointer to an event by index.

    Raises:
        Refused: all events are invalid.
    """
    service, principal = service_of(request), principal_in(request)
    event_import = await service.write(
        principal,
        zone,
        right_of(request),
        lambda opened: opened.event_import(principal.metadata(zone)),
        allow_empty=True,
    )
    async for lines in batches:
        await service.writing.run(partial(event_import.add, lines))
    report = await service.writing.run(event_import.report)
    if BRANCH_MARK in zone:
        # The service decides the zones of its home; a branch is in a home of its own.
        await service.writing.run(service.recollect.zone(zone).decide)
    service.count_import(report)
    if report.read and report.rejected == report.read:
        raise _all_rejected(report, place)
    return report


async def _import_json(request: AnyRequest, zone: str, body: bytes) -> IngestReport:
    """Append the events of a JSON body: the body itself, or those under `events`."""
    if "events" not in decode(body, dict[str, msgspec.Raw]):
        return await _import(request, zone, _single_batch([body]), "#")
    events = [bytes(event) for event in decode(body, _Events).events]
    return await _import(request, zone, _single_batch(events))


async def _single_batch(events: list[bytes]) -> AsyncIterator[list[bytes]]:
    yield events


async def _body(request: AnyRequest) -> bytes:
    limit = service_of(request).settings.body_bytes
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise Refused(
                TOO_LARGE, f"a JSON body may have at most {limit} bytes; send events as NDJSON"
            )
    return bytes(body.removeprefix(BOM_UTF8))


def _all_rejected(report: IngestReport, place: str) -> Refused:
    """Return the problem for an import whose events were all rejected."""
    errors = tuple(
        FieldError(place.format(rejection.line - 1), rejection.reason)
        for rejection in report.rejections[:_MAX_ERRORS]
    )
    what = (
        "the event cannot be kept"
        if report.read == 1
        else f"none of {report.read} events can be kept"
    )
    return Refused(INVALID, f"{what}: {errors[0].detail}", errors)


@get(
    "/export",
    opt={"right": "admin"},
    include_in_schema=False,
)
async def export_events(request: AnyRequest, zone: FromPath[str]) -> Stream:
    """Stream all records of a zone as NDJSON, as `export` writes them to a file.

    It needs the right `admin`: the records include dead letters, commands, and the names of the
    tokens with which events came in.
    """
    opened = await existing_zone(request, zone)
    service = service_of(request)
    lines = await service.reading.run(opened.export_lines)

    async def chunks() -> AsyncIterator[bytes]:
        while chunk := await service.reading.run(lambda: b"".join(islice(lines, _EXPORT_LINES))):
            yield chunk

    return Stream(chunks(), media_type="application/x-ndjson")


ROUTES = (ingest_events, export_events)
