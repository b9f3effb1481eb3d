"""What the service is told when it starts: where it listens, and its limits."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping

import msgspec

from schemas.errors import InvalidInput

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8420


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a service. Sizes are in bytes, times in seconds.

    `body_bytes`: a body of JSON at most; one of NDJSON is read as it comes, of any size.
    `request_seconds`: as long as a call may work, and as a client may be silent while it sends.
    `wait_seconds`: as long as `?wait=true` waits. `requests_per_second`: of one token, 0 for any
    number. `waiting`: calls that wait for a thread, at most; more are refused. `hosts` and
    `origins`: names by which the service may be called, and pages that may call it, beside its own.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    no_auth: bool = False
    body_bytes: int = 16_777_216
    request_seconds: float = 30.0
    wait_seconds: float = 120.0
    requests_per_second: float = 1_000.0
    waiting: int = 256
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return is_loopback(self.host)

    def check(self) -> None:
        """Raise InvalidInput where it would open what is closed, or a limit is none."""
        if self.no_auth and not self.on_loopback:
            raise InvalidInput(
                f"--no-auth is for loopback alone, and {self.host} is reached from elsewhere: "
                "leave it out, and make a token with recollect token create"
            )
        if not 0 <= self.port < 65_536:
            raise InvalidInput(f"port {self.port}: give 1 to 65535, or 0 for any that is free")
        for name in ("body_bytes", "request_seconds", "wait_seconds", "waiting"):
            if getattr(self, name) <= 0:
                raise InvalidInput(f"{name} {getattr(self, name)}: give more than 0")
        if self.requests_per_second < 0:
            raise InvalidInput("requests_per_second is negative; 0 stands for any number")


#: Environment variables, and the settings that they give.
VARIABLES = {
    "RECOLLECT_BODY_BYTES": "body_bytes",
    "RECOLLECT_REQUEST_SECONDS": "request_seconds",
    "RECOLLECT_WAIT_SECONDS": "wait_seconds",
    "RECOLLECT_REQUESTS_PER_SECOND": "requests_per_second",
    "RECOLLECT_WAITING": "waiting",
    "RECOLLECT_HOSTS": "hosts",
    "RECOLLECT_ORIGINS": "origins",
}


def read_settings(
    host: str, port: int, *, no_auth: bool, environment: Mapping[str, str] = os.environ
) -> ServiceSettings:
    """Return the settings that a command line and an environment give.

    Raises:
        InvalidInput: a value is none; the message names it.
    """
    given: dict[str, object] = {"host": host, "port": port, "no_auth": no_auth}
    for variable, name in VARIABLES.items():
        if value := environment.get(variable, "").strip():
            parts = [part.strip() for part in value.split(",")]
            given[name] = parts if name in ("hosts", "origins") else value
    try:
        settings = msgspec.convert(given, ServiceSettings, strict=False)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`")
        variable = next((key for key, value in VARIABLES.items() if value == name), name)
        raise InvalidInput(f"{variable}: {reason[:1].lower()}{reason[1:]}") from None
    settings.check()
    return settings


def is_loopback(host: str) -> bool:
    """Return whether an address is one that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
