"""HTTP clients that use the proxies and certificates set in the environment.

All HTTP clients are created here. They read the variables that curl and pip read: HTTP_PROXY,
HTTPS_PROXY, ALL_PROXY and NO_PROXY (also in lower case), SSL_CERT_FILE, SSL_CERT_DIR,
REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE. Requests to this machine never use a proxy.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
import threading
import urllib.request
from collections.abc import Collection, Mapping
from typing import NamedTuple

import certifi
import httpx

from recollect.schemas.errors import InvalidSetting


class _Route(NamedTuple):
    """How to reach a host: its proxy, if any, and whether its certificate is verified."""

    proxy: str | None
    verified: bool


def http_client(
    timeout: httpx.Timeout,
    *,
    headers: Mapping[str, str] | None = None,
    limits: httpx.Limits | None = None,
    follow_redirects: bool = False,
    proxy: str | None = None,
    certificates: str | None = None,
    unverified: Collection[str] = (),
) -> httpx.Client:
    """Return a thread-safe client.

    `proxy` and `certificates` (a file or directory) take precedence over the environment.
    `unverified`: hosts, or host:port, whose certificates are not verified. With an unusable proxy,
    a request raises `httpx.ProxyError`.

    Raises:
        InvalidSetting: the certificates cannot be read.
    """
    transport = _RoutingTransport(
        limits or httpx.Limits(), proxy, _ssl_context(certificates), unverified
    )
    return httpx.Client(
        transport=transport,
        headers=headers,
        timeout=timeout,
        follow_redirects=follow_redirects,
        trust_env=False,
    )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, judging by its name or address alone."""
    name = host.strip("[]").rstrip(".").casefold()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def proxy_of(url: httpx.URL) -> str | None:
    """Return the proxy that the environment or the system sets for a URL, or None."""
    host = url.host
    if is_loopback(host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy:
        return None
    bracketed = f"[{host}]" if ":" in host else host
    names = (host, f"{bracketed}:{url.port or _DEFAULT_PORTS.get(url.scheme, 0)}")
    if any(urllib.request.proxy_bypass(name) for name in names):
        return None
    return proxy


_DEFAULT_PORTS = {"http": 80, "https": 443}


def _ssl_context(certificates: str | None) -> ssl.SSLContext:
    """Return a context that trusts the configured certificates.

    If none are configured, it trusts the system's and certifi's.
    """
    # OpenSSL reads these two variables itself.
    set_for_openssl = any(os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    bundles = map(os.environ.get, ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"))
    if path := certificates or (None if set_for_openssl else next(filter(None, bundles), None)):
        is_directory = os.path.isdir(path)
        try:
            return ssl.create_default_context(
                cafile=None if is_directory else path, capath=path if is_directory else None
            )
        except OSError as error:
            raise InvalidSetting(f"the certificates in {path} cannot be read: {error}") from None
    context = ssl.create_default_context()
    if not set_for_openssl:
        # Add certifi's certificates, because not every Python finds those of the system.
        context.load_verify_locations(certifi.where())
    return context


class _RoutingTransport(httpx.BaseTransport):
    """A transport that chooses the proxy and the certificate check of each request by its host."""

    def __init__(
        self,
        limits: httpx.Limits,
        proxy: str | None,
        ssl_context: ssl.SSLContext,
        unverified: Collection[str],
    ) -> None:
        self._limits = limits
        self._proxy = proxy
        self._ssl_context = ssl_context
        self._unverified = frozenset(unverified)
        self._transports: dict[_Route, httpx.HTTPTransport] = {}
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._transport(self._route(request.url)).handle_request(request)

    def close(self) -> None:
        with self._lock:
            transports = list(self._transports.values())
        for transport in transports:
            transport.close()

    def _route(self, url: httpx.URL) -> _Route:
        names = {url.host, url.netloc.decode("ascii")}
        proxy = self._proxy if self._proxy and not is_loopback(url.host) else proxy_of(url)
        return _Route(proxy, not names & self._unverified)

    def _transport(self, route: _Route) -> httpx.HTTPTransport:
        with self._lock:
            if route not in self._transports:
                self._transports[route] = self._make_transport(route)
            return self._transports[route]

    def _make_transport(self, route: _Route) -> httpx.HTTPTransport:
        verify = self._ssl_context if route.verified else False
        if route.proxy is None:
            return httpx.HTTPTransport(verify=verify, limits=self._limits)
        # By convention an address without a scheme, such as `proxy:3128`, means HTTP.
        address = route.proxy if "://" in route.proxy else f"http://{route.proxy}"
        try:
            return httpx.HTTPTransport(
                verify=verify, limits=self._limits, proxy=httpx.Proxy(address)
            )
        except (ValueError, httpx.InvalidURL) as error:
            # The address may contain a password.
            shown = address.rpartition("@")[2].rpartition("://")[2]
            raise httpx.ProxyError(
                f"the proxy {shown!r} cannot be used ({error}): set http://, https:// or "
                "socks5://host:port, or add the host to NO_PROXY"
            ) from None
