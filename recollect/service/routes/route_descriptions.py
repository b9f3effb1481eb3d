"""Descriptions of the routes that are not operations of the table."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recollect.operations.table.inference_operations import infer
from recollect.operations.table.zone_operations import ZoneOperations
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.wire import AccessToken, IngestReport, NewAccessToken, Status
from recollect.service.routes.event_routes import EventBatch
from recollect.service.routes.health_routes import Alive, Ready, Version
from recollect.service.routes.long_operation_routes import OperationList
from recollect.service.routes.openapi_document import NDJSON, ZONE_PATH, RouteDescription
from recollect.service.routes.token_routes import TokenList, TokenRequest
from recollect.service.routes.wait_routes import ConsistencyToken
from recollect.service.routes.zone_routes import Access, ZoneList
from recollect.service.work.long_operations import LongOperation

_AT = "2026-05-08T13:56:00.000Z"
_EVENT = {
    "id": "m1",
    "platform": "chat",
    "sender_id": "u1",
    "sender_name": "Ada",
    "occurred_at": "2026-05-08T13:56:00Z",
    "content": "I live in Turin.",
}
_REPORT = {
    "read": 1,
    "new": 1,
    "duplicate": 0,
    "clamped": 0,
    "rejected": 0,
    "rejections": [],
    "seconds": 0.012,
    "token": "4:1:1",
    "head": "1:9463884db74ae79f5dbbfc5455274810",
}
_OPERATION = {
    "id": "9b1f0c2ab94d5e6f70c1d2e3",
    "kind": "verify",
    "state": "running",
    "done": 512,
    "total": 5880,
    "created_at": _AT,
    "started_at": _AT,
    "ended_at": None,
    "detail": None,
    "result": None,
}
_TOKEN = {
    "id": "1f0c2ab94d5e6f70",
    "zones": ["ada"],
    "rights": ["read"],
    "user": "Ada",
    "agent": None,
    "created_at": _AT,
    "expires_at": None,
    "used_at": None,
}
_STATUS = (ZoneOperations.status.example or (None, None))[1]
_OPERATIONS = f"{ZONE_PATH}/operations"
_STREAM = {
    "type": "string",
    "description": "Server-sent events: `operation` with the operation as JSON, or `problem`.",
}
_STATUS_STREAM = {
    "type": "string",
    "description": "Server-sent events: `status` with the status as JSON, or `problem`.",
}
_INFERENCE_STREAM = {
    "type": "string",
    "description": "Server-sent events, each with an InferenceEvent as JSON: `iteration_start`, "
    "`code_execution`, `iteration_complete`, `final_answer`; or `problem`.",
}


class _Waiting(msgspec.Struct):
    wait: Annotated[
        bool, Meta(description="Answer once everything derived from the events can be recalled.")
    ] = False


def _operation(
    name: str, method: str, path: str, title: str, description: str, **more: Any
) -> RouteDescription:
    given = {"answer": LongOperation, "example": (None, _OPERATION), **more}
    return RouteDescription(
        name=name,
        method=method,
        path=f"{_OPERATIONS}/{{id}}{path}",
        path_types={
            "id": {"type": "string", "minLength": 1, "description": "Id of the operation."}
        },
        title=title,
        description=description,
        tag="operations",
        **given,
    )


ROUTES = (
    RouteDescription(
        name="live",
        method="GET",
        path="/health/live",
        title="Liveness",
        description="Report that the process answers.",
        tag="service",
        answer=Alive,
        token=False,
        example=(None, {"status": "ok"}),
    ),
    RouteDescription(
        name="ready",
        method="GET",
        path="/health/ready",
        title="Readiness",
        description="Report that the ledger is open and the encoder is loaded.",
        tag="service",
        answer=Ready,
        token=False,
        example=(None, {"status": "ok"}),
    ),
    RouteDescription(
        name="version",
        method="GET",
        path="/version",
        title="Version",
        description="Return the version of recollect.",
        tag="service",
        answer=Version,
        token=False,
        example=(None, {"version": "0.1.0", "api_version": "0.1.0"}),
    ),
    RouteDescription(
        name="metrics",
        method="GET",
        path="/metrics",
        title="Metrics",
        description="Return Prometheus metrics. The token needs the right admin in some zone, "
        "unless the setting open_metrics is on.",
        tag="service",
        answer={"type": "string"},
        media="text/plain",
        example=(None, "recollect_requests_open 1.0\n"),
    ),
    RouteDescription(
        name="zones",
        method="GET",
        path="/v1/zones",
        title="List zones",
        description="Return the zones with events that this token may read.",
        tag="zones",
        answer=ZoneList,
        example=(
            None,
            {"zones": [{"zone": "ada", "events": 1, "stalled": False, "problem": None}]},
        ),
    ),
    RouteDescription(
        name="access",
        method="GET",
        path="/v1/access",
        title="Get access",
        description="Return the zones with events that this token gives access to, each with its "
        "rights.",
        tag="zones",
        answer=Access,
        example=(
            None,
            {
                "authentication": True,
                "token": "1f0c2ab94d5e6f70",
                "user": None,
                "zones": [{"zone": "ada", "rights": ["read", "write"], "stalled": False}],
            },
        ),
    ),
    RouteDescription(
        name="tokens",
        method="GET",
        path="/v1/tokens",
        title="List access tokens",
        description="Return the access tokens all of whose zones this token administers, without "
        "their secrets.",
        tag="access tokens",
        answer=TokenList,
        example=(None, {"tokens": [_TOKEN]}),
    ),
    RouteDescription(
        name="create_token",
        method="POST",
        path="/v1/tokens",
        title="Create an access token",
        description="Create an access token to zones that this token administers, with rights that "
        "it has. Only this answer has the secret.",
        tag="access tokens",
        status=201,
        body=TokenRequest,
        answer=NewAccessToken,
        example=(
            {"zones": ["a"], "rights": ["read"], "user": "Ada"},
            {"id": "1f0c2ab94d5e6f70", "token": "rct_1f0c2ab94d5e6f70_SECRET"},
        ),
    ),
    RouteDescription(
        name="revoke_token",
        method="DELETE",
        path="/v1/tokens/{id}",
        path_types={"id": {"type": "string", "minLength": 1, "description": "Id of the token."}},
        title="Revoke an access token",
        description="Revoke an access token all of whose zones this token administers, at once.",
        tag="access tokens",
        answer=AccessToken,
        example=(None, _TOKEN),
    ),
    RouteDescription(
        name="ingest",
        method="POST",
        path=f"{ZONE_PATH}/events",
        title="Ingest events",
        description="Append events to the ledger. They are durable when the response arrives, and "
        "can be recalled as messages at once.",
        tag="events",
        query=_Waiting,
        body=(EventBatch, InboundEvent),
        ndjson="One event per line, as JSON.",
        answer=IngestReport,
        example=({"events": [_EVENT]}, _REPORT),
    ),
    RouteDescription(
        name="export",
        method="GET",
        path=f"{ZONE_PATH}/export",
        title="Export a zone",
        description="Stream all records of the zone as lines of JSON, from which another home can "
        "be made: events, and the commands that changed the memory. Nothing that was forgotten is "
        "in it.",
        tag="events",
        answer={"type": "string", "description": "One event per line, as JSON."},
        media=NDJSON,
    ),
    RouteDescription(
        name="wait",
        method="POST",
        path=f"{ZONE_PATH}/wait",
        title="Wait",
        description="Answer once everything up to a consistency token is decided and can be "
        "recalled.",
        tag="zones",
        body=ConsistencyToken,
        answer=Status,
        example=({"token": "4:1:1"}, _STATUS),
    ),
    RouteDescription(
        name="watch_status",
        method="GET",
        path=f"{ZONE_PATH}/status/stream",
        title="Watch the status",
        description="Stream the zone's status whenever events are stored or processed, and every "
        "ten seconds, as long as the client listens.",
        tag="zones",
        answer=_STATUS_STREAM,
        media="text/event-stream",
        example=(None, f"event: status\ndata: {msgspec.json.encode(_STATUS).decode()}\n\n"),
    ),
    RouteDescription(
        name="operations",
        method="GET",
        path=_OPERATIONS,
        title="List operations",
        description="Return the zone's long-running operations, latest first.",
        tag="operations",
        answer=OperationList,
        example=(None, {"operations": [_OPERATION]}),
    ),
    RouteDescription(
        name="stream_inference",
        method="POST",
        path=f"{ZONE_PATH}/infer/stream",
        title="Stream an inference",
        description="Infer over a long context as `infer` does, and stream each iteration.",
        tag="inference",
        body=infer.request_fields,
        answer=_INFERENCE_STREAM,
        media="text/event-stream",
        example=(
            (infer.example or ({}, None))[0],
            'event: iteration_start\ndata: {"event":"iteration_start","iteration":1,"step":null,'
            '"result":null}\n\n',
        ),
    ),
    _operation("get_operation", "GET", "", "Get an operation", "Return an operation's state."),
    _operation(
        "watch_operation",
        "GET",
        "/progress",
        "Watch an operation",
        "Stream the operation's state whenever it changes, until it has ended.",
        answer=_STREAM,
        media="text/event-stream",
        example=(
            None,
            f"event: operation\ndata: {msgspec.json.encode(_OPERATION).decode()}\n\n",
        ),
    ),
    _operation(
        "cancel_operation",
        "POST",
        "/cancel",
        "Cancel an operation",
        "Cancel an operation that has not ended.",
        status=202,
    ),
    _operation(
        "retry_operation",
        "POST",
        "/retry",
        "Retry an operation",
        "Begin a failed, cancelled or interrupted operation again.",
        status=202,
    ),
)
