"""What the service is told when it starts: where it listens, and its limits."""

from __future__ import annotations

import ipaddress
from typing import Annotated

import msgspec
from msgspec import Meta

from recollect.schemas.errors import InvalidInput

_A_DAY = 86_400


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a service. Sizes are in bytes, times in seconds."""

    host: Annotated[str, Meta(description="the address at which it listens")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65_535, description="the port at which it listens; 0 for any free one")
    ] = 8420
    no_auth: Annotated[
        bool, Meta(description="ask for no token; refused where others than this machine reach it")
    ] = False
    body_bytes: Annotated[
        int,
        Meta(ge=1, description="how large a body of JSON may be; one of NDJSON may have any size"),
    ] = 16_777_216
    request_seconds: Annotated[
        float,
        Meta(
            gt=0,
            le=_A_DAY,
            description="as long as a call may work, and as a client may be silent while it sends",
        ),
    ] = 30.0
    wait_seconds: Annotated[
        float, Meta(gt=0, le=_A_DAY, description="as long as ?wait=true waits")
    ] = 120.0
    requests_per_second: Annotated[
        float, Meta(ge=0, description="of one token; 0 for any number")
    ] = 1_000.0
    waiting: Annotated[
        int,
        Meta(ge=1, description="as many calls may wait for a thread; more are answered with 503"),
    ] = 256
    readers: Annotated[
        int,
        Meta(
            ge=0,
            description="processes at most that answer recalls beside it while many ask; one for "
            "each core to spare",
        ),
    ] = 1
    hosts: Annotated[
        tuple[str, ...],
        Meta(description="further names by which it may be called"),
    ] = ()
    origins: Annotated[
        tuple[str, ...],
        Meta(description="further pages that may call it, such as https://ui.example.org"),
    ] = ()
    open_metrics: Annotated[
        bool,
        Meta(description="give the metrics to everybody; else to a token with the right admin"),
    ] = False

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    def check(self) -> None:
        """Raise InvalidInput where it would open what is closed."""
        if self.no_auth and not self.on_loopback:
            raise InvalidInput(
                f"--no-auth is for loopback alone, and {self.host} is reached from elsewhere: "
                "leave it out, and make a token with recollect token create"
            )


def is_loopback(host: str) -> bool:
    """Return whether an address is one that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
