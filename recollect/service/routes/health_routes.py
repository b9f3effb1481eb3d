"""Routes for operators: liveness, readiness, version and metrics."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import msgspec
from litestar import MediaType, Response, get
from msgspec import Meta

from recollect.service.http.problem_details import UNAVAILABLE, Refused, not_found
from recollect.service.http.service_metrics import MEDIA_TYPE
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import principal_in, service_of


class Alive(msgspec.Struct, frozen=True):
    """The service is there."""

    status: Annotated[str, Meta(description="Always ok.")] = "ok"


class Features(msgspec.Struct, frozen=True):
    """The feature flags that Hindsight's client reads."""

    observations: bool = True
    mcp: bool = True
    worker: bool = True
    bank_config_api: bool = False
    bank_llm_health: bool = False
    file_upload_api: bool = False
    document_export_api: bool = False
    document_import_api: bool = False
    audit_log: bool = False
    llm_trace: bool = False
    store_document_text: bool = True


class Version(msgspec.Struct, frozen=True):
    """Which recollect this is; the rest is for Hindsight's client."""

    version: Annotated[str, Meta(description="The version of recollect.")]
    api_version: Annotated[
        str, Meta(description="The same, under the name that Hindsight clients read.")
    ]
    features: Annotated[Features, Meta(description="What Hindsight clients may use here.")] = (
        Features()
    )


class Ready(msgspec.Struct, frozen=True, omit_defaults=True):
    """Questions can be answered; of zones that stand still, the last that is known."""

    status: Annotated[str, Meta(description="ok; degraded where a zone stands still at a record.")]
    unreadable: Annotated[
        list[str],
        Meta(
            description="Where on Kafka a record stands that is none of recollect's, and holds its "
            "zone up; recollect doctor says of which zone, and how it is passed over."
        ),
    ] = []


@get(
    "/health/live",
)
async def live() -> Alive:
    """Return ok: the process answers."""
    return Alive()


@get(
    "/health/ready",
)
async def ready(request: AnyRequest) -> Ready:
    """Return ok once queries can be answered: the ledger is open, and the encoder is loaded."""
    if not service_of(request).ready:
        raise Refused(
            UNAVAILABLE,
            "the service is starting or stopping, or lacks its encoder (run recollect doctor); try "
            "again",
            retry_after=1,
        )
    unreadable = service_of(request).unreadable
    return Ready("degraded" if unreadable else "ok", unreadable)


@get(
    "/version",
)
async def which_version() -> Version:
    """Return the version of recollect."""
    own = version("recollect")
    return Version(own, own)


@get(
    "/metrics",
    media_type=MediaType.TEXT,
)
async def metrics(request: AnyRequest) -> Response[bytes]:
    """Return the metrics for Prometheus, for a token with the right `admin` in any zone.

    They contain nothing about single zones. With the setting `open_metrics`, no token is needed.
    """
    service = service_of(request)
    if not service.settings.open_metrics and not principal_in(request).has_right_anywhere("admin"):
        raise not_found()
    return Response(service.metrics.text(), media_type=MEDIA_TYPE)


ROUTES = (live, ready, which_version, metrics)
