"""Settings of the HTTP service: its address, and its limits."""

from __future__ import annotations

import ipaddress
from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.errors import InvalidInput

_DAY_SECONDS = 86_400


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a service. Sizes are in bytes, durations in seconds."""

    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65_535, description="port to listen on; 0 picks a free one")
    ] = 8420
    no_auth: Annotated[
        bool, Meta(description="disable authentication; allowed on loopback addresses only")
    ] = False
    body_bytes: Annotated[
        int,
        Meta(ge=1, description="maximum size of a JSON body; NDJSON bodies have no limit"),
    ] = 16_777_216
    request_seconds: Annotated[
        float,
        Meta(
            gt=0,
            le=_DAY_SECONDS,
            description="request timeout, and idle timeout while a body is read",
        ),
    ] = 30.0
    wait_seconds: Annotated[
        float, Meta(gt=0, le=_DAY_SECONDS, description="timeout of ?wait=true")
    ] = 120.0
    requests_per_second: Annotated[
        float, Meta(ge=0, description="rate limit per access token; 0 for none")
    ] = 1_000.0
    waiting: Annotated[
        int,
        Meta(ge=1, description="maximum requests waiting for a thread; more get 503"),
    ] = 256
    recall_workers: Annotated[
        int,
        Meta(
            ge=0,
            description="maximum number of additional processes that answer recalls under load; at "
            "most one per spare core",
        ),
    ] = 1
    hosts: Annotated[
        tuple[str, ...],
        Meta(description="additional host names accepted in the Host header"),
    ] = ()
    origins: Annotated[
        tuple[str, ...],
        Meta(
            description="origins of web pages that may call the service, such as https://ui.example.org"
        ),
    ] = ()
    open_metrics: Annotated[
        bool,
        Meta(
            description="serve metrics without authentication; if false, they need the right admin"
        ),
    ] = False

    @property
    def on_loopback(self) -> bool:
        """Whether the address is reachable from this machine only."""
        return is_loopback(self.host)

    def check(self) -> None:
        """Raise InvalidInput if authentication is off and other machines can reach the address."""
        if self.no_auth and not self.on_loopback:
            raise InvalidInput(
                f"no_auth is allowed on loopback addresses only, and {self.host} is not one: "
                "leave it out, and create an access token with recollect token create"
            )


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
