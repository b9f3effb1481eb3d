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
    """The service responds."""

    status: Annotated[str, Meta(description="Always ok.")] = "ok"


class Features(msgspec.Struct, frozen=True):
    """The feature flags that Hindsight's client reads; a bank is a zone."""

    observations: Annotated[bool, Meta(description="Facts become observations.")] = True
    mcp: Annotated[bool, Meta(description="The service answers MCP.")] = True
    worker: Annotated[bool, Meta(description="Work continues in the background.")] = True
    bank_config_api: Annotated[bool, Meta(description="Banks can be configured.")] = False
    bank_llm_health: Annotated[bool, Meta(description="The state of a bank's model is shown.")] = (
        False
    )
    file_upload_api: Annotated[bool, Meta(description="Files can be uploaded.")] = False
    document_export_api: Annotated[bool, Meta(description="Documents can be exported.")] = False
    document_import_api: Annotated[bool, Meta(description="Documents can be imported.")] = False
    audit_log: Annotated[bool, Meta(description="Calls can be listed afterwards.")] = False
    llm_trace: Annotated[bool, Meta(description="Calls of a model can be listed.")] = False
    store_document_text: Annotated[bool, Meta(description="The texts of documents are kept.")] = (
        True
    )


class Version(msgspec.Struct, frozen=True):
    """The version of recollect, and fields that Hindsight's client reads."""

    version: Annotated[str, Meta(description="The version of recollect.")]
    api_version: Annotated[
        str, Meta(description="The same, under the name that Hindsight's client reads.")
    ]
    features: Annotated[Features, Meta(description="Features that Hindsight's client may use.")] = (
        Features()
    )


class Ready(msgspec.Struct, frozen=True, omit_defaults=True):
    """Queries can be answered. `unreadable` lists records that block zones, as of the last scan."""

    status: Annotated[str, Meta(description="ok, or degraded if a record blocks a zone.")]
    unreadable: Annotated[
        list[str],
        Meta(
            description="Locations on Kafka of unreadable records, written by other programs, that "
            "block a zone; recollect doctor names the zone, and the command that skips the record."
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
    number = version("recollect")
    return Version(number, number)


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
