"""Which hosts and web pages may call the service, and the CORS headers for these pages."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from recollect.home.settings.service_settings import ServiceSettings
from recollect.service.http.problem_details import FORBIDDEN_ORIGIN, Refused

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE"
# The response headers that a page may read, besides those that every page may.
_EXPOSED = b"Location, Retry-After, X-Request-Id"
_PREFLIGHT_SECONDS = b"600"

#: Headers as in an ASGI message.
Headers = list[tuple[bytes, bytes]]


class OriginPolicy:
    """The hosts and the origins of a service's settings; headers are by lower-case name."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._hosts = _hosts(settings)
        origins = (origin.lower().rstrip("/") for origin in settings.origins)
        self._origins = frozenset(origin for origin in origins if origin)

    def check(self, headers: Mapping[bytes, bytes]) -> None:
        """Reject cross-site requests of browsers, and DNS rebinding.

        A request without Host is one of HTTP/1.0, which no browser sends.

        Raises:
            Refused: the host or the origin is not allowed.
        """
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host and self._hosts is not None and _name(host) not in self._hosts:
            raise Refused(
                FORBIDDEN_ORIGIN,
                "the service does not accept this host name; see the setting service.hosts",
            )
        origin = _origin(headers)
        if not origin or origin in self._origins:
            return
        try:
            is_same_origin = urlsplit(origin).netloc == host
        except ValueError:
            is_same_origin = False
        if not is_same_origin:
            raise Refused(
                FORBIDDEN_ORIGIN,
                "pages of this origin may not call the service; see the setting service.origins",
            )

    def response_headers(self, headers: Mapping[bytes, bytes]) -> Headers:
        """Return the headers with which a browser lets a page of a listed origin read a response.

        Access tokens are sent explicitly, so credentials that browsers add are not allowed.
        """
        if not self._origins:
            return []
        vary = [(b"vary", b"Origin")]
        if _origin(headers) not in self._origins:
            return vary
        return [
            *vary,
            (b"access-control-allow-origin", headers[b"origin"]),
            (b"access-control-expose-headers", _EXPOSED),
        ]

    def preflight_headers(self, method: str, headers: Mapping[bytes, bytes]) -> Headers | None:
        """Return the response headers for a listed origin's preflight request; None for others."""
        is_preflight = method == "OPTIONS" and b"access-control-request-method" in headers
        if not is_preflight or _origin(headers) not in self._origins:
            return None
        asked = headers.get(b"access-control-request-headers")
        return [
            (b"access-control-allow-methods", _METHODS),
            *([] if asked is None else [(b"access-control-allow-headers", asked)]),
            (b"access-control-max-age", _PREFLIGHT_SECONDS),
        ]


def _origin(headers: Mapping[bytes, bytes]) -> str:
    return headers.get(b"origin", b"").decode("latin-1").lower()


def _hosts(settings: ServiceSettings) -> frozenset[str] | None:
    """Return the host names that requests may use; None for any."""
    if settings.hosts:
        return frozenset({*map(str.lower, settings.hosts), *_LOOPBACK})
    if settings.on_loopback:
        return frozenset({settings.host.strip("[]").lower(), *_LOOPBACK})
    return None


def _name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] or host
