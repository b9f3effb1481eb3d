"""The service that the plugin uses: its configuration, and POST requests to it.

RECOLLECT_URL [http://127.0.0.1:8420], RECOLLECT_TOKEN and RECOLLECT_ZONE [default] configure it, or
url, token and zone under [client] in recollect's configuration file.
"""

from __future__ import annotations

import json
import os
import re
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional
from urllib.parse import quote

_DEFAULT_URL = "http://127.0.0.1:8420"
_DEFAULT_ZONE = "default"
_TABLE = re.compile(r"\s*\[\s*([\w.-]+)\s*\]\s*(?:#.*)?")
_STRING = re.compile(r"""\s*(\w+)\s*=\s*(?:("(?:[^"\\]|\\.)*")|'([^']*)')\s*(?:#.*)?""")


class Service(NamedTuple):
    """A service, and the zone and access token to use there."""

    url: str
    zone: str
    token: Optional[str] = None

    @property
    def zone_path(self) -> str:
        """The zone as part of a path."""
        return quote(self.zone, safe="")

    def post(
        self, path: str, body: bytes, timeout: float, headers: Optional[Mapping[str, str]] = None
    ) -> bytes:
        """POST a JSON body and return the body of the response.

        Raises:
            OSError: there is no answer, or the answer is an error (`urllib.error.HTTPError`).
            ValueError: the URL is not an HTTP URL.
        """
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"{self.url} is not an HTTP URL")
        sent = {"Content-Type": "application/json", **(headers or {})}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(f"{self.url}{path}", body, sent, method="POST")
        # Ignore proxy variables: the service is usually on this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=timeout) as answer:
            content: bytes = answer.read()
        return content

    def post_in_zone(self, route: str, body: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """POST to a route of the zone and return the JSON object of the response.

        Raises:
            OSError, ValueError: as `post`, or the response is not JSON.
        """
        path = f"/v1/zones/{self.zone_path}/{route}"
        found = json.loads(self.post(path, json.dumps(body).encode(), timeout))
        return found if isinstance(found, dict) else {}


def configured_service() -> Service:
    """Return the service set in the environment, else in recollect's configuration file."""
    table = _client_table()
    url, zone, token = (
        os.environ.get(f"RECOLLECT_{name.upper()}") or table.get(name)
        for name in ("url", "zone", "token")
    )
    return Service((url or _DEFAULT_URL).rstrip("/"), zone or _DEFAULT_ZONE, token)


def _client_table() -> dict[str, str]:
    home = os.environ.get("RECOLLECT_HOME") or "~/.recollect"
    file = os.environ.get("RECOLLECT_CONFIG") or os.path.join(home, "recollect.toml")
    try:
        with open(os.path.expanduser(file), encoding="utf-8") as opened:
            table = _parse(opened.read())
    except (OSError, ValueError):
        return {}
    return {name: value for name, value in table.items() if isinstance(value, str)}


def _parse(text: str) -> Mapping[str, Any]:
    """Return the table [client] of a TOML document.

    Raises:
        ValueError: the document is not TOML.
    """
    try:
        import tomllib
    except ImportError:
        return _parse_strings(text)
    table = tomllib.loads(text).get("client")
    return table if isinstance(table, dict) else {}


def _parse_strings(text: str) -> dict[str, str]:
    """Return the strings of [client], one per line; Python 3.10 has no TOML parser."""
    found: dict[str, str] = {}
    table = ""
    for line in text.splitlines():
        if opened := _TABLE.fullmatch(line):
            table = opened[1]
        elif table == "client" and (string := _STRING.fullmatch(line)):
            found[string[1]] = json.loads(string[2]) if string[2] else string[3]
    return found
